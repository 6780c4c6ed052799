package io.caravan.catalog;

import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Operations over named documents that become durable together or not at all. It holds the locks of its names from {@link
 * Catalog#edit(DocumentName)} until {@link #close()}, on one thread; keep it short:
 *
 * <pre>{@code
 * try (Edit edit = catalog.edit(name)) {
 *     edit.document(name).append(value);
 *     edit.commit(callback);
 * }
 * }</pre>
 */
public final class Edit implements AutoCloseable {
    private final Catalog catalog;
    private final List<DocumentTable> locked;
    private final Map<DocumentName, DocumentEdit> documents;
    private final WriteBatch batch;
    private boolean committed;

    Edit(Catalog catalog, List<DocumentTable> locked, Map<DocumentName, DocumentEdit> documents, WriteBatch batch) {
        this.catalog = catalog;
        this.locked = locked;
        this.documents = documents;
        this.batch = batch;
    }

    /**
     * One of the documents that the edit was opened for.
     *
     * @throws IllegalArgumentException when it was not
     */
    public DocumentEdit document(DocumentName name) {
        DocumentEdit document = documents.get(name);
        if (document == null) {
            throw new IllegalArgumentException("the edit was not opened for the document '" + name + "'");
        }
        return document;
    }

    /**
     * Hands all operations to the store as one batch. The callback is told of success when they are durable, and when
     * there are none, once everything is durable that the edit has seen. What number it gets is of no meaning.
     *
     * <p>What {@link io.caravan.ListStore#write} throws is thrown here; nothing has then changed.
     */
    public void commit(WriteCallback callback) {
        if (committed) {
            throw new IllegalStateException("the edit has been committed");
        }
        committed = true;
        List<DocumentEdit> changed = new ArrayList<>(1);
        for (DocumentEdit document : documents.values()) {
            if (document.changesCatalog()) {
                changed.add(document);
            }
        }
        catalog.commit(batch, changed, callback);
        documents.values().forEach(DocumentEdit::publishSequences);
    }

    /** Lets go of the names. Operations that were not committed are forgotten. */
    @Override
    public void close() {
        locked.forEach(stripe -> stripe.lock.unlock());
    }
}
