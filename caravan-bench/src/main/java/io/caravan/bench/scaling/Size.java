package io.caravan.bench.scaling;

import java.util.Locale;

/**
 * The size of a store. Lists have ids from 0 and equal numbers of entries.
 *
 * @param entries a multiple of the number of lists
 */
record Size(int entries, int lists) {
    /** The target for the memory of an index. */
    private static final long AIM_BYTES_AN_ENTRY = 12;

    private static final long AIM_BYTES_A_LIST = 100;

    int entriesPerList() {
        return entries / lists;
    }

    /** The target for the index memory of a store of this size. */
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
