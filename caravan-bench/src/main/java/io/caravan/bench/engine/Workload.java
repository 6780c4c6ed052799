package io.caravan.bench.engine;

import java.util.SplittableRandom;

/**
 * What is appended: values of 64 to 318 bytes, 191 on average, to 10,000 documents in random order. All of it is made
 * beforehand, so that an endless sequence costs nothing to draw from.
 */
public final class Workload {
    private static final int IDS = 10_000;
    private static final int MIN_BYTES = 64;
    private static final int MAX_BYTES = 318;
    private static final int VALUES = 1 << 13;
    private static final int DRAWS = 1 << 16;

    private final byte[][] values = new byte[VALUES][];
    private final long[] ids;

    public Workload(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < VALUES; i++) {
            values[i] = new byte[random.nextInt(MIN_BYTES, MAX_BYTES + 1)];
            random.nextBytes(values[i]);
        }
        ids = random.longs(DRAWS, 0, IDS).toArray();
    }

    public byte[] value(int index) {
        return values[index & (VALUES - 1)];
    }

    public long id(int index) {
        return ids[index & (DRAWS - 1)];
    }

    /** Sum of the first {@code count} values' lengths. */
    long bytes(int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += value(i).length;
        }
        return bytes;
    }
}
