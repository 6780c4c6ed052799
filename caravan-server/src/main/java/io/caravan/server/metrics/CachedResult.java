package io.caravan.server.metrics;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A result that is expensive to compute, and that all callers share. The next computation starts only after twenty
 * times the duration of the previous one. Computations therefore take at most a twentieth of one thread's time,
 * regardless of the number of callers. Thread-safe.
 */
public final class CachedResult<T> {
    private static final int REST = 20;

    private final LongSupplier clock;
    private final long leastNanos;
    private final ReentrantLock computing = new ReentrantLock();
    private volatile @Nullable Found<T> last;

    private record Found<T>(T computed, long untilNanos) {}

    /** Creates a result that is shared for at least this time. The clock works like {@link System#nanoTime()}. */
    public CachedResult(Duration least, LongSupplier clock) {
        this.leastNanos = least.toNanos();
        this.clock = clock;
    }

    /**
     * Returns the last result if it is recent, or if another thread is computing the next one. Otherwise computes a
     * result, or waits for the thread that is computing the first one.
     */
    public T get(Supplier<T> compute) {
        Found<T> found = last;
        if (found != null && (recent(found) || !computing.tryLock())) {
            return found.computed();
        }
        if (found == null) {
            computing.lock();
        }
        try {
            Found<T> newest = last;
            if (newest == null || !recent(newest)) {
                long began = clock.getAsLong();
                T computed = compute.get();
                long now = clock.getAsLong();
                last = new Found<>(computed, now + Math.max(leastNanos, REST * (now - began)));
            }
            return Objects.requireNonNull(last).computed();
        } finally {
            computing.unlock();
        }
    }

    private boolean recent(Found<T> found) {
        return found.untilNanos() - clock.getAsLong() > 0;
    }
}
