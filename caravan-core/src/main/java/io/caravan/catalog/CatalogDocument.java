package io.caravan.catalog;

import org.jspecify.annotations.Nullable;

/**
 * A document in memory. A catalog may have many millions of documents, so all links between documents (the chain of a
 * hash bucket, the order of entries) are fields of the documents.
 *
 * <p>The comment of each field names the locks that guard it: the stripe lock is that of the document's {@link
 * DocumentTable}, the log lock is that of {@link CatalogLog}. A field that both locks guard is written under both and
 * read under either.
 */
final class CatalogDocument {
    final byte[] name;
    final long id;

    /** Attributes of the document. Guarded by both locks. */
    Attributes attributes;
    /** Whether the store has a list for the document; the first value creates the list. Guarded by both locks. */
    boolean listed;

    /** First retained sequence after all accepted writes; may not be durable yet. Guarded by the stripe lock. */
    long firstSequence;
    /** Sequence of the next value after all accepted writes; may not be durable yet. Guarded by the stripe lock. */
    long nextSequence;
    /** Next document in the same hash bucket. Guarded by the stripe lock. */
    @Nullable
    CatalogDocument nextInBucket;

    /** Sequence of the entry that describes this document. Guarded by the log lock. */
    long entrySequence;
    /** Document that the previous live entry describes; see {@link CatalogLog}. Guarded by the log lock. */
    CatalogDocument older = this;
    /** Document that the next live entry describes. Guarded by the log lock. */
    CatalogDocument newer = this;

    CatalogDocument(byte[] name, long id, Attributes attributes, boolean listed) {
        this.name = name;
        this.id = id;
        this.attributes = attributes;
        this.listed = listed;
    }

    DocumentState state() {
        return new DocumentState(id, firstSequence, nextSequence, attributes);
    }
}
