package io.caravan.catalog;

/**
 * What the catalog knows of a document at one moment.
 *
 * @param id id of the document's list
 * @param firstSequence sequence of the first retained value; equal to {@code nextSequence} when there is none
 * @param nextSequence sequence that the next value will get
 * @param attributes its attributes
 */
public record DocumentState(long id, long firstSequence, long nextSequence, Attributes attributes) {

    /** Number of retained values. */
    public long length() {
        return nextSequence - firstSequence;
    }
}
