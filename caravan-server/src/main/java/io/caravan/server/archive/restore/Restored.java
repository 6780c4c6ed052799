package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.document.DocumentInfo;

/**
 * The result of restoring one document, which is durable.
 *
 * @param name the document's name in the store
 * @param generation the generation that it was restored from
 * @param firstSequence sequence of the first value that the document retains
 * @param nextSequence sequence that its next value will get
 * @param added number of values that were added
 * @param addedBytes their total length
 * @param changed whether anything was done: the document was created, or got values
 */
public record Restored(
        DocumentName name,
        Generation generation,
        long firstSequence,
        long nextSequence,
        long added,
        long addedBytes,
        boolean changed) {

    /** The result for a created document. */
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

    /** The result for a document that lacked nothing. */
    static Restored unchanged(DocumentName name, Generation generation, DocumentInfo local) {
        return new Restored(name, generation, local.firstSequence(), local.nextSequence(), 0, 0, false);
    }
}
