package io.caravan.bench.network;

import java.time.Duration;

/** A time to measure in, by {@link System#nanoTime()}, after a time to warm up. */
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

    /** Waits until it starts. */
    void awaitStart() throws InterruptedException {
        await(startNanos);
    }

    /** Waits until it is over. */
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
