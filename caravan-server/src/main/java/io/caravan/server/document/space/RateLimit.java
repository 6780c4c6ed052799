package io.caravan.server.document.space;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A token bucket that holds a second's worth. Whoever finds a whole token in it may take as many as it needs, and those who
 * follow wait until the debt is paid: so what is larger than the bucket gets through, and the rate holds in the long run.
 * Thread-safe; takes neither memory nor a lock for each request.
 *
 * <p>The bucket is kept as the time at which it would be full again. A second ahead, it is empty.
 */
final class RateLimit {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** When the bucket is full again, on the clock of the calls. */
    private final AtomicLong fullNanos;

    RateLimit(long nowNanos) {
        fullNanos = new AtomicLong(nowNanos);
    }

    /** Time that an amount takes, in nanoseconds; a century at most. */
    private static long nanos(long amount, long perSecond) {
        return (long) Math.min((double) amount * SECOND / perSecond, TimeUnit.DAYS.toNanos(36_500));
    }

    /**
     * Takes an amount.
     *
     * @return 0, or, when there is no token and nothing was taken, in how many nanoseconds there will be
     */
    long take(long nowNanos, long amount, long perSecond) {
        while (true) {
            long full = fullNanos.get();
            // Nanosecond clocks may have any sign: compare differences only.
            long ahead = Math.max(0, full - nowNanos);
            long wait = ahead + nanos(1, perSecond) - SECOND;
            if (wait > 0) {
                return wait;
            }
            if (fullNanos.compareAndSet(full, nowNanos + ahead + nanos(amount, perSecond))) {
                return 0;
            }
        }
    }

    /** Gives back what was taken for a write that was not made. */
    void giveBack(long amount, long perSecond) {
        fullNanos.addAndGet(-nanos(amount, perSecond));
    }
}
