package io.caravan.server.net;

import java.time.Duration;

/**
 * Limits how often the server logs a message that clients can trigger: allows a fixed number of lines per minute, and
 * counts the suppressed lines.
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
