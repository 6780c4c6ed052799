package io.caravan.index;

/** A place in the region table of a pinned list; {@link ListIndex#seek} and {@link ListIndex#copyRegions} move it on. */
public final class ListCursor {
    private static final long NOWHERE = -1;

    int chunk;
    int at;
    long sequence = NOWHERE;

    /** Sequence of the entry that is next; negative before the first seek. */
    public long sequence() {
        return sequence;
    }

    /** Forgets the place, so that the cursor can be used for another list. */
    void reset() {
        sequence = NOWHERE;
    }
}
