package io.caravan.server.protocol.http.endpoint;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Something that takes a while to find out. All who ask share what one has found, and nobody looks again before twenty
 * times as long has passed as the last look took: however many ask, looking takes a twentieth of a thread at most.
 * Thread-safe.
 */
final class Shared<T> {
    private static final int REST = 20;

    private final LongSupplier clock;
    private final long leastNanos;
    private final ReentrantLock looking = new ReentrantLock();
    private volatile @Nullable Found<T> last;

    private record Found<T>(T what, long untilNanos) {}

    /** Shares what is found for so long at least; the clock is as {@link System#nanoTime()}. */
    Shared(Duration least, LongSupplier clock) {
        this.leastNanos = least.toNanos();
        this.clock = clock;
    }

    /** What was found last, if that is recent or somebody is looking; otherwise looks, or waits for who does. */
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
