package io.caravan.bench.engine;

import java.util.SplittableRandom;

/**
 * An endless sequence of appends to 10,000 documents in random order. The ids and values are prepared in advance, so
 * that choosing the next append costs almost nothing.
 */
public final class Workload {
    /** Number of documents. Their ids start at 0. */
    public static final int IDS = 10_000;

    /** Mean length of small values. */
    static final int SMALL_MEAN_BYTES = 191;

    private static final int SMALL_MIN_BYTES = 64;
    private static final int SMALL_MAX_BYTES = 318;
    private static final int SMALL_VALUES = 1 << 13;
    private static final int LARGE_VALUES = 1 << 6;
    private static final int DRAWS = 1 << 16;

    private final byte[][] values;
    private final long[] ids;

    private Workload(long seed, int count, int minBytes, int maxBytes) {
        SplittableRandom random = new SplittableRandom(seed);
        values = new byte[count][];
        for (int i = 0; i < count; i++) {
            values[i] = new byte[random.nextInt(minBytes, maxBytes + 1)];
            random.nextBytes(values[i]);
        }
        ids = random.longs(DRAWS, 0, IDS).toArray();
    }

    /** Returns a workload that appends values of 64 to 318 bytes, 191 on average. */
    public static Workload small(long seed) {
        return new Workload(seed, SMALL_VALUES, SMALL_MIN_BYTES, SMALL_MAX_BYTES);
    }

    /** Returns a workload that appends values of one size. */
    public static Workload ofSize(long seed, int bytes) {
        return new Workload(seed, LARGE_VALUES, bytes, bytes);
    }

    public byte[] value(int index) {
        return values[index & (values.length - 1)];
    }

    public long id(int index) {
        return ids[index & (DRAWS - 1)];
    }

    /** Returns the total length of the first {@code count} values. */
    long bytes(int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += value(i).length;
        }
        return bytes;
    }
}
