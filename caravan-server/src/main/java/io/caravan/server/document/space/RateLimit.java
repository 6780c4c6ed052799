package io.caravan.server.document.space;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A token bucket that holds one second's worth of tokens. A caller that finds an entire token may take as many as it
 * needs, and later callers wait until the debt is repaid. An amount larger than the bucket can therefore pass, and the
 * rate holds in the long run. Thread-safe; allocates no memory and takes no lock for a request.
 *
 * <p>The bucket is stored as the time at which it will be full. It is empty when that time is one second ahead.
 */
final class RateLimit {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** The time at which the bucket is full again, on the clock of the calls. */
    private final AtomicLong fullNanos;

    RateLimit(long nowNanos) {
        fullNanos = new AtomicLong(nowNanos);
    }

    /** Returns the time that an amount takes, in nanoseconds; at most a century. */
    private static long nanos(long amount, long perSecond) {
        return (long) Math.min((double) amount * SECOND / perSecond, TimeUnit.DAYS.toNanos(36_500));
    }

    /**
     * Takes an amount.
     *
     * @return 0, or, when no token is available and nothing was taken, the nanoseconds until one is available
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

    /** Refunds an amount that was taken for a write that was not made. */
    void refund(long amount, long perSecond) {
        fullNanos.addAndGet(-nanos(amount, perSecond));
    }
}
