package io.caravan;

/**
 * A summary of a list: its sequences and its size.
 *
 * @param id id of the list
 * @param firstSequence sequence of the first retained entry; equal to {@code nextSequence} if the list is empty
 * @param nextSequence sequence of the next append
 * @param bytes total length of the retained values, in bytes
 */
public record ListInfo(long id, long firstSequence, long nextSequence, long bytes) {

    /** Returns the number of retained entries. */
    public long count() {
        return nextSequence - firstSequence;
    }
}
