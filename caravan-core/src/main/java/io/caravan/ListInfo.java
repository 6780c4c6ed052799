package io.caravan;

/**
 * What a list holds.
 *
 * @param id the document's id
 * @param firstSequence sequence of the first retained entry; equal to {@code nextSequence} when the list is empty
 * @param nextSequence sequence that the next append will get
 * @param bytes sum of the lengths of the retained values
 */
public record ListInfo(long id, long firstSequence, long nextSequence, long bytes) {

    /** Number of retained entries. */
    public long count() {
        return nextSequence - firstSequence;
    }
}
