package io.caravan.bench.report;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures the costs of reading the clock and of waking another thread. */
final class ThreadProbe {
    private static final int DIGITS = 3;
    private static final long FALLING_ASLEEP_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final int PATIENCE_SECONDS = 10;

    private ThreadProbe() {}

    /** Measures the time between two consecutive readings of the clock. */
    static Measurement clock(int readings) {
        Histogram nanos = new Histogram(DIGITS);
        for (int i = 0; i < readings; i++) {
            long start = System.nanoTime();
            nanos.recordValue(System.nanoTime() - start);
        }
        return new Measurement()
                .with(Figure.P50_NANOS, nanos.getValueAtPercentile(50))
                .with(Figure.P99_NANOS, nanos.getValueAtPercentile(99));
    }

    /** Hands an item to a sleeping thread, and measures the time until that thread has it. */
    static Measurement wakeUps(int wakeUps) throws InterruptedException {
        SynchronousQueue<Long> queue = new SynchronousQueue<>();
        Histogram nanos = new Histogram(DIGITS);
        Thread sleeper = new Thread(() -> receive(queue, nanos, wakeUps), "wake-up-probe");
        sleeper.start();
        for (int i = 0; i < wakeUps; i++) {
            awaitSleep(sleeper);
            if (!queue.offer(System.nanoTime(), PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the woken thread did not take the item it was given");
            }
        }
        sleeper.join();
        return new Measurement()
                .with(Figure.P50_NANOS, nanos.getValueAtPercentile(50))
                .with(Figure.P99_NANOS, nanos.getValueAtPercentile(99));
    }

    /**
     * Waits until a thread sleeps. A thread reports that it is waiting shortly before it really sleeps, so this method
     * then waits a little longer.
     */
    private static void awaitSleep(Thread sleeper) {
        while (sleeper.isAlive() && sleeper.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        long asleepNanos = System.nanoTime() + FALLING_ASLEEP_NANOS;
        while (System.nanoTime() - asleepNanos < 0) {
            Thread.onSpinWait();
        }
    }

    private static void receive(SynchronousQueue<Long> queue, Histogram nanos, int wakeUps) {
        try {
            for (int i = 0; i < wakeUps; i++) {
                long handedOverNanos = queue.take();
                nanos.recordValue(System.nanoTime() - handedOverNanos);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
