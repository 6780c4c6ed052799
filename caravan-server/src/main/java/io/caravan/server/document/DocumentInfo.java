package io.caravan.server.document;

/**
 * A document at one moment.
 *
 * @param id a number that no other document has, and that a document loses when it is deleted
 * @param firstSequence sequence of the first retained value; equal to {@code nextSequence} when there is none
 * @param nextSequence sequence that the next value will get
 * @param attributes what it is beside its values
 */
public record DocumentInfo(long id, long firstSequence, long nextSequence, DocumentAttributes attributes) {

    /** Number of retained values. */
    public long count() {
        return nextSequence - firstSequence;
    }

    /** Whether an archive has the document as it is. */
    public boolean archived() {
        ArchiveMark mark = attributes.archived();
        return mark != null && mark.tells(this);
    }
}
