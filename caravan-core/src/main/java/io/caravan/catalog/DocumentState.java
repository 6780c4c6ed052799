package io.caravan.catalog;

/**
 * The state of a document in the catalog at one moment.
 *
 * @param id id of the document's list
 * @param firstSequence sequence of the first retained value; equal to {@code nextSequence} if the document has no
 *     values
 * @param nextSequence sequence of the next value
 * @param attributes attributes of the document
 */
public record DocumentState(long id, long firstSequence, long nextSequence, Attributes attributes) {

    /** Returns the number of retained values. */
    public long length() {
        return nextSequence - firstSequence;
    }
}
