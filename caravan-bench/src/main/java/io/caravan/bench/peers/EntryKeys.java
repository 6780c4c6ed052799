package io.caravan.bench.peers;

/**
 * Keys of entries: the document in the upper half, and in the lower half a number that increases with every entry of
 * the store.
 */
final class EntryKeys {
    private static final int NUMBER_BITS = 32;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

    private EntryKeys() {}

    static long of(long id, long number) {
        return id << NUMBER_BITS | number & NUMBER_MASK;
    }

    /** The lower bound of a list's keys; all its keys are below the bound of the next list. */
    static long first(long id) {
        return of(id, 0);
    }
}
