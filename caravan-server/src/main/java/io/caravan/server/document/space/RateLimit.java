package io.caravan.server.document.space;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A token bucket that holds one second's worth of tokens. If at least one token is available, a caller may take as many
 * tokens as it needs, and later callers must wait until the debt is repaid. A single request can therefore exceed the
 * size of the bucket, but the long-term rate is not exceeded. Thread-safe; a request allocates no memory and takes no
 * lock.
 *
 * <p>The state of the bucket is stored as the time at which it will be full. The bucket is empty if that time is one
 * second ahead.
 */
final class RateLimit {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** The number of tokens that the bucket gains per second; 0 for no limit. */
    private final long perSecond;
    /** The time at which the bucket will be full again, according to the callers' clock. */
    private final AtomicLong fullNanos;

    private RateLimit(long perSecond, long nowNanos) {
        this.perSecond = perSecond;
        this.fullNanos = new AtomicLong(nowNanos);
    }

    /**
     * Returns the limit with this rate: the existing one, or a new one if the rate has changed. Otherwise, writers
     * would have to wait for the old debt to be repaid at the old rate, perhaps for days.
     */
    static RateLimit of(long perSecond, long nowNanos, @Nullable RateLimit existing) {
        return existing != null && existing.perSecond == perSecond ? existing : new RateLimit(perSecond, nowNanos);
    }

    /** Returns the time, in nanoseconds, in which the bucket gains this number of tokens; at most a century. */
    private long nanos(long amount) {
        return (long) Math.min((double) amount * SECOND / perSecond, TimeUnit.DAYS.toNanos(36_500));
    }

    /**
     * Takes this number of tokens if at least one token is available.
     *
     * @return 0, or, when no token is available and nothing was taken, the nanoseconds until one is available
     */
    long take(long nowNanos, long amount) {
        while (perSecond != 0) {
            long full = fullNanos.get();
            // Nanosecond clocks may be negative: compare only differences.
            long ahead = Math.max(0, full - nowNanos);
            long wait = ahead + nanos(1) - SECOND;
            if (wait > 0) {
                return wait;
            }
            if (fullNanos.compareAndSet(full, nowNanos + ahead + nanos(amount))) {
                return 0;
            }
        }
        return 0;
    }

    void refund(long amount) {
        if (perSecond != 0) {
            fullNanos.addAndGet(-nanos(amount));
        }
    }
}
