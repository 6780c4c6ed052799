package io.caravan.bench.peers;

/** Keys of entries: the document in the upper half, a number that rises with every entry of the store in the lower. */
final class EntryKeys {
    private static final int NUMBER_BITS = 32;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

    private EntryKeys() {}

    static long of(long id, long number) {
        return id << NUMBER_BITS | number & NUMBER_MASK;
    }

    /** The least key that a list's entry can have; every key of it is below that of the next list. */
    static long first(long id) {
        return of(id, 0);
    }
}
