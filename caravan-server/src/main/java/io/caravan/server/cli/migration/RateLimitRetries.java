package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.Retries;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Retries requests that exceed the rate limit of a space, after the time that the server requests. Gives up if no
 * request was accepted during 10 minutes of waiting. Not thread-safe.
 */
final class RateLimitRetries {
    static final long MOST_MILLIS = TimeUnit.MINUTES.toMillis(10);

    private final Retries.Pause pause;
    private final Consumer<String> tell;
    private long waitedMillis;
    private boolean told;

    /**
     * Creates an instance.
     *
     * @param tell receives a message before the first wait
     */
    RateLimitRetries(Retries.Pause pause, Consumer<String> tell) {
        this.pause = pause;
        this.tell = tell;
    }

    /** Repeats a request until it is accepted, or rejected for another reason. */
    <T> T take(Supplier<T> request) {
        while (true) {
            try {
                T answer = request.get();
                taken();
                return answer;
            } catch (ClientException refusal) {
                if (!waits(refusal)) {
                    throw refusal;
                }
            }
        }
    }

    /** Sends a request like {@link #take(Supplier)}. */
    void take(Runnable request) {
        take(() -> {
            request.run();
            return true;
        });
    }

    /** Records an accepted request, which restarts the time limit. */
    void taken() {
        waitedMillis = 0;
    }

    /** Waits if a rejected request may be sent again; returns whether this is the case. */
    boolean waits(ClientException refusal) {
        long millis = refusal.waitMillis();
        if (millis == 0 || waitedMillis + millis > MOST_MILLIS) {
            return false;
        }
        if (!told) {
            told = true;
            tell.accept(refusal.getMessage() + "; waiting for it, now and whenever it asks to");
        }
        waitedMillis += millis;
        try {
            pause.millis(millis);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw ClientException.failed("interrupted", stop);
        }
        return true;
    }
}
