package io.caravan.engine;

/** The reserved space that a write may use. */
enum Reserve {
    /** The front of the last ready log segment. For appends. */
    FRONT,
    /**
     * Also {@link CommitQueue#deletionBytes} after the front, and the reserve of the heap. For batches that delete an
     * existing list and append.
     */
    DELETIONS,
    /** The entire last ready log segment. For trims and deletes, which need no space in the heap. */
    ALL
}
