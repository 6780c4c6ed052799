package io.caravan.server.document;

import io.caravan.catalog.Attributes;
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
        if (state.attributes() == Attributes.EMPTY) {
            // The usual case: no attribute shifts the sequences.
            return new DocumentInfo(state.id(), state.firstSequence(), state.nextSequence(), DocumentAttributes.NONE);
        }
        return of(state.id(), state.firstSequence(), state.nextSequence(), DocumentAttributes.of(state.attributes()));
    }

    /** Returns the state of the document whose own list has these sequences. */
    static DocumentInfo of(long id, long ownFirst, long ownNext, DocumentAttributes attributes) {
        long base = attributes.base();
        Fork fork = attributes.get(DocumentAttributes.FORK);
        long first = fork != null && ownFirst == 0 ? fork.firstSequence() : base + ownFirst;
        return new DocumentInfo(id, first, base + ownNext, attributes);
    }

    /** Whether the document has no attributes, so that none of them needs to be checked. */
    boolean isPlain() {
        return attributes == DocumentAttributes.NONE;
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
