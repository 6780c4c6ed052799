package io.caravan.server.cli.carry;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.Retries;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Waits where a space is written to faster than it allows, as long as its server asks for, until the request is taken.
 * Gives up when nothing at all was taken for some minutes. For one thread.
 */
final class Patience {
    static final long MOST_MILLIS = TimeUnit.MINUTES.toMillis(10);

    private final Retries.Pause pause;
    private final Consumer<String> tell;
    private long waitedMillis;
    private boolean told;

    /**
     * A patience that has not been tried.
     *
     * @param tell is told once that it waits
     */
    Patience(Retries.Pause pause, Consumer<String> tell) {
        this.pause = pause;
        this.tell = tell;
    }

    /** Makes a request until it is taken, or refused for another reason. */
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

    /** Makes a request as {@link #take(Supplier)} does. */
    void take(Runnable request) {
        take(() -> {
            request.run();
            return true;
        });
    }

    /** The server has taken something: it may be waited for anew. */
    void taken() {
        waitedMillis = 0;
    }

    /** Whether a request that was refused may be made again; then the time has come when this returns. */
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
