package io.caravan.server.protocol.http.endpoint;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A result that is expensive to compute, and that all callers share. After a computation, the next one starts only when
 * twenty times its duration has passed. Computations therefore take at most a twentieth of the time of one thread,
 * regardless of the number of callers. Thread-safe.
 */
final class Shared<T> {
    private static final int REST = 20;

    private final LongSupplier clock;
    private final long leastNanos;
    private final ReentrantLock looking = new ReentrantLock();
    private volatile @Nullable Found<T> last;

    private record Found<T>(T what, long untilNanos) {}

    /** Creates a result that is shared for at least this time. The clock works like {@link System#nanoTime()}. */
    Shared(Duration least, LongSupplier clock) {
        this.leastNanos = least.toNanos();
        this.clock = clock;
    }

    /**
     * Returns the last result if it is recent, or if another thread is computing the next one. Otherwise computes a
     * result, or waits for the thread that is computing the first one.
     */
    T get(Supplier<T> look) {
        Found<T> found = last;
        if (found != null && (recent(found) || !looking.tryLock())) {
            return found.what();
        }
        if (found == null) {
            looking.lock();
        }
        try {
            Found<T> meanwhile = last;
            if (meanwhile == null || !recent(meanwhile)) {
                long began = clock.getAsLong();
                T what = look.get();
                long now = clock.getAsLong();
                last = new Found<>(what, now + Math.max(leastNanos, REST * (now - began)));
            }
            return Objects.requireNonNull(last).what();
        } finally {
            looking.unlock();
        }
    }

    private boolean recent(Found<T> found) {
        return found.untilNanos() - clock.getAsLong() > 0;
    }
}
