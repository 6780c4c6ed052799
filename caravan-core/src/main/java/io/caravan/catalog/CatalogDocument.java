package io.caravan.catalog;

import org.jspecify.annotations.Nullable;

/**
 * A document in memory. A catalog may have many millions, so all links between documents (the chain of a hash bucket,
 * the order of entries) are fields of the documents.
 *
 * <p>The comment of each field names the lock that guards it: "stripe" is that of the document's {@link DocumentTable},
 * "log" that of {@link CatalogLog}. A field marked "both" is written under both and read under either.
 */
final class CatalogDocument {
    final byte[] name;
    final long id;

    /** Both. */
    Attributes attributes;
    /** Both. Whether the store has a list for the document; the first value creates the list. */
    boolean listed;

    /** Stripe. As accepted; may not be durable yet. */
    long firstSequence;
    /** Stripe. As accepted; may not be durable yet. */
    long nextSequence;
    /** Stripe. */
    @Nullable
    CatalogDocument nextInBucket;

    /** Log. Sequence of the entry that describes this document. */
    long entrySequence;
    /** Log. */
    @Nullable
    CatalogDocument older;
    /** Log. */
    @Nullable
    CatalogDocument newer;

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
