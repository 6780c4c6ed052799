package io.caravan.index;

/**
 * A position in the region table of a pinned list. {@link ListIndex#seek} and {@link ListIndex#copyRegions} advance it.
 */
public final class ListCursor {
    static final long NOWHERE = -1;

    int chunk;
    int at;
    long sequence = NOWHERE;

    /** Returns the sequence of the next entry; negative before the first seek. */
    public long sequence() {
        return sequence;
    }
}
