package io.caravan.bench.engine;

/**
 * Measures the longest time between two consecutive events on one thread.
 *
 * <p>The clock is read only at every sixteenth event. Reading it at every event would noticeably lengthen an append,
 * and any stall that matters is longer than sixteen appends.
 */
public final class LongestGap {
    private static final int EVERY_MASK = 16 - 1;

    private long lastNanos;
    private long longestNanos;
    private int events;

    public LongestGap(long startNanos) {
        lastNanos = startNanos;
    }

    public void event() {
        if ((++events & EVERY_MASK) == 0) {
            eventAt(System.nanoTime());
        }
    }

    public void eventAt(long nanos) {
        longestNanos = Math.max(longestNanos, nanos - lastNanos);
        lastNanos = nanos;
    }

    public long nanos() {
        return longestNanos;
    }
}
