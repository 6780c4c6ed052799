package io.caravan.catalog;

import io.caravan.Durability;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Operations over named documents that become durable together or not at all. It holds the locks of its names from
 * {@link Catalog#edit(DocumentName)} until {@link #close()}, on one thread; keep it short:
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
    private final CatalogLog log;
    private final DocumentTable[] locked;
    private final DocumentEdit[] documents;
    /** Finds a document when there are several; empty when there is one, as in most edits. */
    private final Map<DocumentName, DocumentEdit> byName;

    private final WriteBatch batch;
    private boolean committed;

    Edit(Catalog catalog, CatalogLog log, DocumentTable locked, DocumentEdit document, WriteBatch batch) {
        this.catalog = catalog;
        this.log = log;
        this.locked = new DocumentTable[] {locked};
        this.documents = new DocumentEdit[] {document};
        this.byName = Map.of();
        this.batch = batch;
    }

    Edit(
            Catalog catalog,
            CatalogLog log,
            DocumentTable[] locked,
            Map<DocumentName, DocumentEdit> documents,
            WriteBatch batch) {
        this.catalog = catalog;
        this.log = log;
        this.locked = locked;
        this.documents = documents.values().toArray(DocumentEdit[]::new);
        this.byName = documents;
        this.batch = batch;
    }

    /**
     * One of the documents that the edit was opened for.
     *
     * @throws IllegalArgumentException when it was not
     */
    public DocumentEdit document(DocumentName name) {
        DocumentEdit document = byName.isEmpty() && documents[0].name().equals(name) ? documents[0] : byName.get(name);
        if (document == null) {
            throw new IllegalArgumentException("the edit was not opened for the document '" + name + "'");
        }
        return document;
    }

    /**
     * Appends a value, in the same batch, to a list of the documents' group that is neither the catalog's nor a document's.
     *
     * @param listId below zero
     */
    public void append(long listId, byte[] value) {
        if (listId >= 0) {
            throw new IllegalArgumentException("listId must be below zero, was " + listId);
        }
        batch.append(listId, value);
    }

    /** How durable the edit shall be before its callback is called; see {@link WriteBatch#durability(Durability)}. */
    public void durability(Durability level) {
        batch.durability(level);
    }

    /** How long the edit may wait to be flushed; see {@link WriteBatch#flushDelay(Duration)}. */
    public void flushDelay(Duration delay) {
        batch.flushDelay(delay);
    }

    /**
     * Hands all operations to the store as one batch. The callback is notified of success once they are durable; if
     * there are none, once everything that the edit has seen is as durable as it was to be. The sequence that it gets has no meaning.
     *
     * <p>What {@link io.caravan.ListStore#write} throws is thrown here; then nothing has changed.
     */
    public void commit(WriteCallback callback) {
        if (committed) {
            throw new IllegalStateException("the edit has been committed");
        }
        committed = true;
        catalog.commit(log, batch, changed(), callback);
        for (DocumentEdit document : documents) {
            document.publishSequences();
        }
    }

    /** Whether there are no operations, so that a commit changes nothing; before {@link #commit}. */
    public boolean isEmpty() {
        return batch.operations().isEmpty() && changed().isEmpty();
    }

    private List<DocumentEdit> changed() {
        List<DocumentEdit> changed = List.of();
        for (DocumentEdit document : documents) {
            if (document.changesCatalog()) {
                changed = changed.isEmpty() ? new ArrayList<>(1) : changed;
                // The last entry with a list's id names the document that has the list.
                changed.add(document.handedOver() ? 0 : changed.size(), document);
            }
        }
        return changed;
    }

    /** Unlocks the names. Operations that were not committed are dropped. */
    @Override
    public void close() {
        for (DocumentTable stripe : locked) {
            stripe.lock.unlock();
        }
    }
}
