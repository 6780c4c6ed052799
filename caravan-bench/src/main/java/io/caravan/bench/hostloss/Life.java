package io.caravan.bench.hostloss;

import java.util.Arrays;

/** The values appended to a document between its creation and its deletion: the number of each value, by sequence. */
final class Life {
    private static final int INITIAL_VALUES = 16;

    private long[] stamps = new long[INITIAL_VALUES];
    private int count;

    void add(long stamp) {
        if (count == stamps.length) {
            stamps = Arrays.copyOf(stamps, 2 * count);
        }
        stamps[count++] = stamp;
    }

    long stamp(long sequence) {
        if (sequence >= count) {
            throw new IllegalArgumentException("no value has sequence " + sequence + ", there are " + count);
        }
        return stamps[(int) sequence];
    }

    /** Forgets the values from this sequence on. */
    void cut(long next) {
        count = (int) next;
    }
}
