package io.caravan.server.net;

import java.time.Duration;

/**
 * Limits how often a message that clients can cause is logged: allows a number of lines a minute, and counts the
 * others.
 */
public final class LogRateLimiter {
    private static final int LINES = 10;
    private static final Duration WHILE = Duration.ofMinutes(1);

    private long startNanos = System.nanoTime();
    private int lines;
    private long left;

    /** Returns the number of lines suppressed since the last logged line, or -1 if this line must be suppressed. */
    public long next() {
        return next(System.nanoTime());
    }

    synchronized long next(long nowNanos) {
        if (nowNanos - startNanos >= WHILE.toNanos()) {
            startNanos = nowNanos;
            lines = 0;
        }
        if (lines == LINES) {
            left++;
            return -1;
        }
        lines++;
        long before = left;
        left = 0;
        return before;
    }
}
