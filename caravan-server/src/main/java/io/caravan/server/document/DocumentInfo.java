package io.caravan.server.document;

/**
 * The state of a document at one point in time.
 *
 * @param id unique, and not reused after a deletion
 * @param firstSequence sequence of the first retained value; equal to {@code nextSequence} if it retains none
 * @param nextSequence sequence of the next value
 * @param attributes all its attributes
 */
public record DocumentInfo(long id, long firstSequence, long nextSequence, DocumentAttributes attributes) {

    /** Returns the number of retained values. */
    public long count() {
        return nextSequence - firstSequence;
    }

    /** Whether the document is archived in its current state. */
    public boolean archived() {
        ArchiveMark mark = attributes.archived();
        return mark != null && mark.matches(this);
    }
}
