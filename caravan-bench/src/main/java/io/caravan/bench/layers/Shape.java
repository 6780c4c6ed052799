package io.caravan.bench.layers;

import java.util.SplittableRandom;

/** The workload of all layers: values of 191 bytes, on 10,000 lists in random order. */
final class Shape {
    static final int VALUE_BYTES = 191;
    static final int LISTS = 10_000;

    private static final int DRAWN = 1 << 16;
    private static final int MASK = DRAWN - 1;
    private static final int SEED = 1;

    private Shape() {}

    static byte[] value() {
        byte[] value = new byte[VALUE_BYTES];
        fill(value);
        return value;
    }

    private static void fill(byte[] value) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) random.nextInt();
        }
    }

    /** List ids, drawn in advance; {@link #at} cycles through them. */
    static int[] ids() {
        return new SplittableRandom(SEED).ints(DRAWN, 0, LISTS).toArray();
    }

    /** The index of a draw; any number is valid. */
    static int at(int draw) {
        return draw & MASK;
    }
}
