package io.caravan.bench.network;

import java.time.Duration;

/** The period of a measurement, after a warm-up, in {@link System#nanoTime()}. */
record Window(long startNanos, long endNanos) {

    static Window after(Duration warmUp, Duration length) {
        long start = System.nanoTime() + warmUp.toNanos();
        return new Window(start, start + length.toNanos());
    }

    boolean isOver(long nanos) {
        return nanos - endNanos >= 0;
    }

    boolean contains(long nanos) {
        return nanos - startNanos >= 0 && !isOver(nanos);
    }

    long nanos() {
        return endNanos - startNanos;
    }

    /** Waits for the start of the window. */
    void awaitStart() throws InterruptedException {
        await(startNanos);
    }

    /** Waits for the end of the window. */
    void awaitEnd() throws InterruptedException {
        await(endNanos);
    }

    private static void await(long deadlineNanos) throws InterruptedException {
        long left = deadlineNanos - System.nanoTime();
        if (left > 0) {
            Thread.sleep(Duration.ofNanos(left).toMillis() + 1);
        }
    }
}
