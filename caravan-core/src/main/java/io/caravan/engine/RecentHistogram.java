package io.caravan.engine;

import io.caravan.StoreStats.Distribution;
import java.util.concurrent.TimeUnit;

/** A histogram of the values recorded in the last five to ten seconds. Not thread-safe. */
final class RecentHistogram {
    static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);

    private Histogram current = new Histogram();
    private Histogram before = new Histogram();
    private long startNanos;

    RecentHistogram(long nowNanos) {
        startNanos = nowNanos;
    }

    void record(long value, long nowNanos) {
        turn(nowNanos);
        current.record(value);
    }

    Distribution read(long nowNanos) {
        turn(nowNanos);
        return current.readWith(before);
    }

    private void turn(long nowNanos) {
        long age = nowNanos - startNanos;
        if (age >= WINDOW_NANOS) {
            before = age < 2 * WINDOW_NANOS ? current : new Histogram();
            current = new Histogram();
            startNanos = nowNanos;
        }
    }
}
