package io.caravan.server.document;

import io.caravan.catalog.DocumentName;

/**
 * Documents that the store lacks and an archive may have. {@link DocumentService} asks before it says that a document does
 * not exist, and before it creates one.
 */
public interface ColdDocuments {

    /**
     * Whether the archive may have a document that the store lacks. Quick, on any thread. False for one that was deleted
     * here, whether the archive has heard of it or not.
     */
    boolean mayHave(DocumentName name);

    /** Whether somebody waits for the document to be fetched, or is about to be told. Quick, on any thread. */
    boolean fetching(DocumentName name);

    /**
     * Fetches the document, once however many ask, and tells when it is in the store or known to be nowhere. Those who ask
     * for one document are told in the order in which they asked, on a thread that may wait; until the last of them has
     * been told, {@link #fetching} is true. The failure is that of the archive.
     */
    void fetch(DocumentName name, Outcome<DocumentName> known);

    /**
     * Waits until the document is in the store or known to be nowhere, for a thread of those that serve reads: refuses to
     * when too many of them wait, so that some are left for the documents that are here.
     */
    default void await(DocumentName name) {
        Waiting.<DocumentName>to(known -> fetch(name, known));
    }

    /** Nothing is archived anywhere. */
    ColdDocuments NONE = new ColdDocuments() {
        @Override
        public boolean mayHave(DocumentName name) {
            return false;
        }

        @Override
        public boolean fetching(DocumentName name) {
            return false;
        }

        @Override
        public void fetch(DocumentName name, Outcome<DocumentName> known) {
            known.success(name);
        }
    };
}
