package io.caravan.server.document;

import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentAttributes.Fork;

/**
 * The state of a document at one point in time.
 *
 * @param id unique identifier, which is not reused after a deletion
 * @param firstSequence sequence of the first retained value; equal to {@code nextSequence} if no value is retained
 * @param nextSequence sequence of the next value
 * @param attributes all attributes of the document
 */
public record DocumentInfo(long id, long firstSequence, long nextSequence, DocumentAttributes attributes) {

    static DocumentInfo of(DocumentState state) {
        return of(state.id(), state.firstSequence(), state.nextSequence(), DocumentAttributes.of(state.attributes()));
    }

    /** Returns the state of the document whose own list has these sequences. */
    static DocumentInfo of(long id, long ownFirst, long ownNext, DocumentAttributes attributes) {
        long base = attributes.base();
        Fork fork = attributes.get(DocumentAttributes.FORK);
        long first = fork != null && ownFirst == 0 ? fork.firstSequence() : base + ownFirst;
        return new DocumentInfo(id, first, base + ownNext, attributes);
    }

    public long count() {
        return nextSequence - firstSequence;
    }

    public boolean archived() {
        ArchiveMark mark = attributes.archived();
        return mark != null
                && mark.generation() > 0
                && mark.nextSequence() == nextSequence
                && mark.firstSequence() == firstSequence
                && mark.attributesHash() == attributes.portableHash();
    }
}
