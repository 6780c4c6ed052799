package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.Retries;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Retries requests that exceed the rate limit of a space, after the time that the server requests. Gives up if no
 * request was accepted during 10 minutes of waiting. Not thread-safe.
 */
final class RateLimitRetries {
    private static final long MAX_MILLIS = TimeUnit.MINUTES.toMillis(10);

    private final Consumer<String> messages;
    private long waitedMillis;
    private boolean reported;

    /** Creates an instance that reports its first wait as a message. */
    RateLimitRetries(Consumer<String> messages) {
        this.messages = messages;
    }

    /** Repeats a request until it is accepted, or is rejected for a reason other than the rate limit. */
    void run(Runnable request) {
        while (true) {
            try {
                request.run();
                accepted();
                return;
            } catch (ClientException rejection) {
                if (!waits(rejection)) {
                    throw rejection;
                }
            }
        }
    }

    /** Records an accepted request, which restarts the time limit. */
    void accepted() {
        waitedMillis = 0;
    }

    /** Waits if a rejected request may be sent again; returns false if it may not. */
    boolean waits(ClientException rejection) {
        long millis = rejection.waitMillis();
        if (millis == 0 || waitedMillis + millis > MAX_MILLIS) {
            return false;
        }
        if (!reported) {
            reported = true;
            messages.accept(rejection.getMessage() + "; the command waits for as long as the server requests");
        }
        waitedMillis += millis;
        Retries.sleep(millis);
        return true;
    }
}
