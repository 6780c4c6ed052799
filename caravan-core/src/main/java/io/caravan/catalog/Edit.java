package io.caravan.catalog;

import io.caravan.Durability;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Collects operations on named documents, which take effect together or not at all. An edit holds the locks of its
 * names from {@link Catalog#edit(DocumentName)} until {@link #close()}. Use it on one thread, and keep it short:
 *
 * <pre>{@code
 * try (Edit edit = catalog.edit(name)) {
 *     edit.document(name).append(value);
 *     edit.commit(callback, true);
 * }
 * }</pre>
 */
public final class Edit implements AutoCloseable {
    private final CatalogLog log;
    private final DocumentEdit[] documents;
    /** The documents by name; empty if the edit has only one document, as most edits do. */
    private final Map<DocumentName, DocumentEdit> byName;

    private final WriteBatch batch;
    private boolean committed;

    /** Creates an edit that has locked the stripe of each document, and unlocks it once for each document. */
    Edit(CatalogLog log, DocumentEdit[] documents, Map<DocumentName, DocumentEdit> byName, WriteBatch batch) {
        this.log = log;
        this.documents = documents;
        this.byName = byName;
        this.batch = batch;
    }

    /**
     * Returns the edit's document with this name.
     *
     * @throws IllegalArgumentException if the edit was not opened for this document
     */
    public DocumentEdit document(DocumentName name) {
        DocumentEdit document =
                documents.length == 1 && documents[0].name.equals(name) ? documents[0] : byName.get(name);
        if (document == null) {
            throw new IllegalArgumentException("the edit was not opened for the document '" + name + "'");
        }
        return document;
    }

    /**
     * Appends a value, in the edit's batch, to a list that is in the documents' shard but belongs to neither the
     * catalog nor a document.
     *
     * @param listId below zero
     */
    public void append(long listId, byte[] value) {
        if (listId >= 0) {
            throw new IllegalArgumentException("listId must be below zero, was " + listId);
        }
        batch.append(listId, value);
    }

    /**
     * Sets the durability level that the edit must reach before its callback is called; see {@link
     * WriteBatch#durability(Durability)}.
     */
    public void durability(Durability level) {
        batch.durability(level);
    }

    /**
     * Sets the maximum time that the edit waits for other writes to share its flush; see {@link
     * WriteBatch#flushDelay(Duration)}.
     */
    public void flushDelay(Duration delay) {
        batch.flushDelay(delay);
    }

    /**
     * Submits all operations to the store as one batch. The callback is notified of success once they are durable. If
     * the edit has no operations, the callback is notified once everything that the edit has read has reached its
     * durability level. The sequence passed to the callback has no meaning.
     *
     * <p>Throws the exceptions that {@link io.caravan.ListStore#write} throws; in that case, nothing has changed.
     *
     * @param mayWait whether to wait for space in the store, while the edit holds the locks of the names
     * @throws io.caravan.NotWritableException if the store has no space now, and the edit may not wait; close the edit,
     *     and make another when the store is writable
     */
    public void commit(WriteCallback callback, boolean mayWait) {
        if (committed) {
            throw new IllegalStateException("the edit has been committed");
        }
        committed = true;
        log.commit(batch, changed(), callback, mayWait);
        for (DocumentEdit document : documents) {
            document.publishSequences();
        }
    }

    /** Whether the edit has no operations, so that a commit would change nothing. Call this before {@link #commit}. */
    public boolean isEmpty() {
        return batch.operations().isEmpty() && changed().isEmpty();
    }

    private List<DocumentEdit> changed() {
        List<DocumentEdit> changed = List.of();
        for (DocumentEdit document : documents) {
            if (document.changesCatalog()) {
                changed = changed.isEmpty() ? new ArrayList<>(1) : changed;
                // The newest entry with a list's id identifies the document that owns the list.
                changed.add(document.handedOver() ? 0 : changed.size(), document);
            }
        }
        return changed;
    }

    /** Unlocks the names. Discards operations that were not committed. */
    @Override
    public void close() {
        for (DocumentEdit document : documents) {
            document.stripe.lock.unlock();
        }
    }
}
