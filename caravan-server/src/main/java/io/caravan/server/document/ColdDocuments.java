package io.caravan.server.document;

import io.caravan.catalog.DocumentName;

/**
 * Fetches documents that are not in the store but may be in an archive. {@link DocumentService} looks for a document in
 * the archive before it creates the document or reports that it does not exist.
 */
public interface ColdDocuments {

    /**
     * Whether the archive may contain a document with this name that the store lacks. Fast; may be called on any
     * thread. False for a document that was deleted from the store, even if the deletion is not archived yet.
     */
    default boolean mayHave(DocumentName name) {
        return false;
    }

    /** Whether the document is being fetched, and not all callers are notified. Fast; for any thread. */
    default boolean fetching(DocumentName name) {
        return false;
    }

    /**
     * Fetches the document, once for all callers, and notifies them when it is in the store or known not to exist.
     * Callers that request the same document are notified in the order of their calls, on a thread that may wait. The
     * outcome receives a failure if the archive failed.
     */
    default void fetch(DocumentName name, Outcome<DocumentName> known) {
        known.success(name);
    }

    /**
     * Waits, on a reading thread, until the document is in the store or known not to exist. Rejects the call when too
     * many reading threads are waiting, so that some threads remain for reads of documents in the store.
     */
    default void await(DocumentName name) {
        Outcome.<DocumentName>await(known -> fetch(name, known));
    }

    /** The cold documents of a server without an archive: none. */
    ColdDocuments NONE = new ColdDocuments() {};
}
