package io.caravan.server.net;

import java.time.Duration;

/** Keeps a message that clients can cause from filling the log: some lines in a while, and a count of the others. */
public final class LineLimit {
    private static final int LINES = 10;
    private static final Duration WHILE = Duration.ofMinutes(1);

    private long startNanos = System.nanoTime();
    private int lines;
    private long left;

    /** Returns how many lines have been left out since the last one that was not, or -1 to leave this one out too. */
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
