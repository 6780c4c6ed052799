package io.caravan.bench.scaling;

import java.util.Locale;

/**
 * How large a store is. Lists have the ids from 0 on and all the same number of entries.
 *
 * @param entries a multiple of the lists
 */
record Size(int entries, int lists) {
    /** What the index of a store is to take at most. */
    private static final long AIM_BYTES_AN_ENTRY = 12;

    private static final long AIM_BYTES_A_LIST = 100;

    int entriesPerList() {
        return entries / lists;
    }

    /** Memory that the index of such a store is to take at most. */
    long aimedBytes() {
        return AIM_BYTES_AN_ENTRY * entries + AIM_BYTES_A_LIST * lists;
    }

    /** For the name of a file. */
    String key() {
        return entries + "-" + lists;
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d entries in %,d lists", entries, lists);
    }
}
