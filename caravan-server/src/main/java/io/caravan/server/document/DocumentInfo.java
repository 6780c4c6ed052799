package io.caravan.server.document;

/**
 * A document at one moment.
 *
 * @param id unique, and not used again after a deletion
 * @param firstSequence sequence of the first retained value; equal to {@code nextSequence} when there is none
 * @param nextSequence sequence that the next value will get
 * @param attributes everything else that is kept with it
 */
public record DocumentInfo(long id, long firstSequence, long nextSequence, DocumentAttributes attributes) {

    /** Number of retained values. */
    public long count() {
        return nextSequence - firstSequence;
    }

    /** Whether the document is archived in its present state. */
    public boolean archived() {
        ArchiveMark mark = attributes.archived();
        return mark != null && mark.matches(this);
    }
}
