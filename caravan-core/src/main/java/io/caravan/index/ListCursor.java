package io.caravan.index;

/** A place in a pinned list's region table; {@link ListIndex#copyRegions} moves it on. */
public final class ListCursor {
    int chunk;
    int at;
    /** -1 until it is sent somewhere. */
    long sequence = -1;

    /** Sequence of the entry that is next. */
    public long sequence() {
        return sequence;
    }
}
