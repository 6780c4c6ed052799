package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;

/** What pruning leaves of each document. For any thread. */
public interface PrunePolicies {
    /** What it leaves of a document of this name. */
    PrunePolicy of(DocumentName name);

    /**
     * What it leaves of most. By this it is decided whether a document is looked at whose name is too long to be told from
     * its objects' keys; what is left of it is decided by its name all the same.
     */
    PrunePolicy general();
}
