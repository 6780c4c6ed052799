package io.caravan.server.archive.push;

import java.time.Duration;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * How long to leave a place alone that has failed: twice as long after each failure, up to a limit, by a random part less so
 * that servers do not come back together, and not at all after a success. Threads share it.
 */
final class BackOff {
    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final LongSupplier nanoTime;
    private final DoubleSupplier random;
    private long pauseNanos;
    private long beganNanos;
    private long endNanos;

    /**
     * No pause yet.
     *
     * @param random numbers from 0 on and below 1
     */
    BackOff(LongSupplier nanoTime, DoubleSupplier random) {
        this.nanoTime = nanoTime;
        this.random = random;
    }

    /**
     * An attempt failed. Those that were under way together fail together, and count as one.
     *
     * @param startNanos when the attempt began
     */
    synchronized void failed(long startNanos) {
        if (pauseNanos > 0 && startNanos - beganNanos < 0) {
            return;
        }
        pauseNanos = Math.min(LONGEST.toNanos(), pauseNanos == 0 ? FIRST.toNanos() : 2 * pauseNanos);
        beganNanos = nanoTime.getAsLong();
        endNanos = beganNanos + pauseNanos - (long) (random.getAsDouble() * pauseNanos / 2);
    }

    /**
     * An attempt succeeded. One that began before the last failure says nothing about what is now.
     *
     * @param startNanos when the attempt began
     */
    synchronized void succeeded(long startNanos) {
        if (pauseNanos > 0 && startNanos - beganNanos >= 0) {
            pauseNanos = 0;
        }
    }

    /** Time until the next attempt, in nanoseconds; 0 when it may be made now. */
    synchronized long remainingNanos() {
        return pauseNanos == 0 ? 0 : Math.max(0, endNanos - nanoTime.getAsLong());
    }

    /** Whether the last that was heard is a failure. */
    synchronized boolean failing() {
        return pauseNanos > 0;
    }
}
