package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.document.DocumentInfo;

/**
 * The result of restoring one document. The document is durable.
 *
 * @param name the document's name in the store
 * @param generation the generation that it was restored from
 * @param firstSequence sequence of the first value that the document retains
 * @param nextSequence sequence of its next value
 * @param added number of values that were added
 * @param addedBytes total length of the added values
 * @param changed whether the document was created or values were appended
 */
public record Restored(
        DocumentName name,
        Generation generation,
        long firstSequence,
        long nextSequence,
        long added,
        long addedBytes,
        boolean changed) {

    static Restored created(DocumentName name, Generation generation) {
        return new Restored(
                name,
                generation,
                generation.firstSequence(),
                generation.nextSequence(),
                generation.count(),
                generation.valueBytes(),
                true);
    }

    /** Returns the result for a document that lacked no values. */
    static Restored unchanged(DocumentName name, Generation generation, DocumentInfo local) {
        return new Restored(name, generation, local.firstSequence(), local.nextSequence(), 0, 0, false);
    }
}
