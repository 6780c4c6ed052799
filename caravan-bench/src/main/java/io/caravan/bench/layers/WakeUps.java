package io.caravan.bench.layers;

import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Time from unparking a thread until it runs, after it has been parked for a moment. */
final class WakeUps {
    private static final int DIGITS = 3;
    /** Long enough for the other thread to be parked, and its core idle. */
    private static final long PAUSE_NANOS = 100_000;

    private final int count;
    private volatile long unparkedNanos;
    private volatile long wokenNanos;
    private volatile boolean ended;

    WakeUps(int count) {
        this.count = count;
    }

    /** Wakes the other thread this many times; returns nanoseconds. */
    Histogram run() throws InterruptedException {
        Thread sleeper = new Thread(this::sleep, "sleeper");
        sleeper.setDaemon(true);
        sleeper.start();
        Histogram nanos = new Histogram(DIGITS);
        for (int i = 0; i < count; i++) {
            awaitParked(sleeper);
            wokenNanos = 0;
            long now = System.nanoTime();
            unparkedNanos = now;
            LockSupport.unpark(sleeper);
            while (wokenNanos == 0) {
                Thread.onSpinWait();
            }
            nanos.recordValue(Math.max(0, wokenNanos - now));
        }
        ended = true;
        LockSupport.unpark(sleeper);
        sleeper.join();
        return nanos;
    }

    private static void awaitParked(Thread sleeper) {
        long end = System.nanoTime() + PAUSE_NANOS;
        while (sleeper.getState() != Thread.State.WAITING || System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private void sleep() {
        long seen = 0;
        while (!ended) {
            LockSupport.park(this);
            long now = System.nanoTime();
            if (unparkedNanos != seen) {
                seen = unparkedNanos;
                wokenNanos = now;
            }
        }
    }
}
