package io.caravan.bench.peers;

/**
 * Builds the keys under which the stores keep entries. The upper half of a key is the document; the lower half is a
 * number that increases with every entry of the store.
 */
final class EntryKeys {
    private static final int NUMBER_BITS = 32;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

    private EntryKeys() {}

    static long of(long id, long number) {
        return id << NUMBER_BITS | number & NUMBER_MASK;
    }

    /** Returns the lower bound of a list's keys. All keys of the list are below the lower bound of the next list. */
    static long first(long id) {
        return of(id, 0);
    }
}
