package io.caravan.catalog;

import org.jspecify.annotations.Nullable;

/**
 * A document in memory. There may be many millions, so all links between them (the chain of a hash bucket, the order of
 * entries) are fields of the documents.
 *
 * <p>Each field says which lock guards it: "stripe" is that of the {@link DocumentTable} the document is in, "log" that
 * of {@link CatalogLog}; "both" is written under both and read under either.
 */
final class Document {
    final byte[] name;
    final long id;

    /** Both. */
    Attributes attributes;
    /** Both. Whether the store has a list for it, as it has from the first value on. */
    boolean listed;

    /** Stripe. Accepted, but perhaps not durable yet. */
    long firstSequence;
    /** Stripe. Accepted, but perhaps not durable yet. */
    long nextSequence;
    /** Stripe. */
    @Nullable
    Document nextInBucket;

    /** Log. Sequence of the entry that describes this document. */
    long entrySequence;
    /** Log. */
    @Nullable
    Document older;
    /** Log. */
    @Nullable
    Document newer;

    Document(byte[] name, long id, Attributes attributes, boolean listed) {
        this.name = name;
        this.id = id;
        this.attributes = attributes;
        this.listed = listed;
    }

    DocumentState state() {
        return new DocumentState(id, firstSequence, nextSequence, attributes);
    }
}
