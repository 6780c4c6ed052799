package io.caravan.engine;

import io.caravan.StoreStats.Distribution;
import java.util.concurrent.TimeUnit;

/**
 * A histogram with sixteen buckets for each power of two, so that the relative error of a quantile is at most one
 * sixteenth. Not thread-safe.
 */
final class Histogram {
    private static final int SPLIT_LOG2 = 4;
    private static final int SPLITS = 1 << SPLIT_LOG2;

    private final long[] counts = new long[(Long.SIZE - SPLIT_LOG2) * SPLITS];
    private long count;
    private double sum;
    private long max;

    void record(long value) {
        long positive = Math.max(value, 0);
        counts[bucket(positive)]++;
        count++;
        sum += positive;
        max = Math.max(max, positive);
    }

    private static int bucket(long value) {
        if (value < SPLITS) {
            return (int) value;
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(value) - SPLIT_LOG2;
        return shift * SPLITS + (int) (value >>> shift);
    }

    private static long upperBound(int bucket) {
        if (bucket < SPLITS) {
            return bucket;
        }
        int shift = bucket / SPLITS - 1;
        return ((long) (bucket - shift * SPLITS) + 1 << shift) - 1;
    }

    private void add(Histogram other) {
        for (int bucket = 0; bucket < counts.length; bucket++) {
            counts[bucket] += other.counts[bucket];
        }
        count += other.count;
        sum += other.sum;
        max = Math.max(max, other.max);
    }

    Distribution read() {
        return count == 0
                ? Distribution.EMPTY
                : new Distribution(
                        count, sum / count, quantile(0.5), quantile(0.9), quantile(0.99), quantile(0.999), max);
    }

    private long quantile(double fraction) {
        long rank = (long) Math.ceil(fraction * count);
        long seen = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            seen += counts[bucket];
            if (seen >= rank) {
                return Math.min(upperBound(bucket), max);
            }
        }
        return max;
    }

    /** A histogram of the values recorded in the last five to ten seconds. Not thread-safe. */
    static final class Recent {
        static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);

        private Histogram current = new Histogram();
        private Histogram before = new Histogram();
        private long startNanos;

        Recent(long nowNanos) {
            startNanos = nowNanos;
        }

        void record(long value, long nowNanos) {
            turn(nowNanos);
            current.record(value);
        }

        Distribution read(long nowNanos) {
            turn(nowNanos);
            Histogram both = new Histogram();
            both.add(current);
            both.add(before);
            return both.read();
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
}
