package io.caravan.server.archive.push;

import java.time.Duration;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * The delay between a failed attempt and the next attempt. The delay doubles with each failure, up to a limit. A random
 * part is subtracted, so that servers do not all retry at once. After a success, there is no delay. Thread-safe.
 */
final class BackOff {
    private static final Duration FIRST = Duration.ofMillis(200);

    private final LongSupplier nanoTime;
    private final DoubleSupplier random;
    private final long longestNanos;
    private long pauseNanos;
    private long beganNanos;
    private long endNanos;

    BackOff(LongSupplier nanoTime, DoubleSupplier random, Duration longest) {
        this.nanoTime = nanoTime;
        this.random = random;
        this.longestNanos = longest.toNanos();
    }

    /** Records a failed attempt that began at this time. Concurrent attempts that fail count as one failure. */
    synchronized void failed(long startNanos) {
        if (pauseNanos > 0 && startNanos - beganNanos < 0) {
            return;
        }
        pauseNanos = Math.min(longestNanos, pauseNanos == 0 ? FIRST.toNanos() : 2 * pauseNanos);
        beganNanos = nanoTime.getAsLong();
        endNanos = beganNanos + pauseNanos - (long) (random.getAsDouble() * pauseNanos / 2);
    }

    /** Records a successful attempt. It has no effect if it began before the last failure. */
    synchronized void succeeded(long startNanos) {
        if (pauseNanos > 0 && startNanos - beganNanos >= 0) {
            pauseNanos = 0;
        }
    }

    /** Returns the time until the next attempt, in nanoseconds; 0 if it may be made now. */
    synchronized long remainingNanos() {
        return pauseNanos == 0 ? 0 : Math.max(0, endNanos - nanoTime.getAsLong());
    }
}
