package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;

/** The retention policies of documents. Thread-safe. */
public interface PrunePolicies {
    PrunePolicy of(DocumentName name);

    /**
     * Returns the default policy. It determines whether pruning inspects a document whose name is too long to be read
     * from its keys. The document's own policy still determines which of its generations are kept.
     */
    PrunePolicy general();
}
