package io.caravan.catalog;

import io.caravan.WriteBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One document within an {@link Edit}: its operations so far, and its state after these operations. Use it only between
 * {@link Catalog#edit(DocumentName)} and {@link Edit#commit}, on the edit's thread.
 */
public final class DocumentEdit {
    final DocumentName name;
    final DocumentTable stripe;
    private final CatalogLog log;
    private final WriteBatch batch;
    /** The document in the catalog: before the edit until the change is published, and then after the edit. */
    private @Nullable CatalogDocument document;
    /** The document after the operations so far; null if it will not exist. */
    private @Nullable DocumentState state;
    /** Whether another document has taken over this document's list. */
    private boolean handedOver;
    /** Sequence of the catalog entry that describes the document after the edit. */
    private long entrySequence;

    DocumentEdit(DocumentName name, DocumentTable stripe, CatalogLog log, WriteBatch batch) {
        this.name = name;
        this.stripe = stripe;
        this.log = log;
        this.batch = batch;
        this.document = stripe.find(name);
        this.state = document == null ? null : document.state();
    }

    /** Returns the document as it will be after the commit, or null if it will not exist. */
    public @Nullable DocumentState state() {
        return state;
    }

    private DocumentState created() {
        if (state == null) {
            state = new DocumentState(log.newId(), 0, 0, Attributes.EMPTY);
        }
        return state;
    }

    /**
     * Appends a value. Creates the document if it does not exist.
     *
     * @return the value's sequence
     */
    public long append(byte[] value) {
        DocumentState before = created();
        batch.append(before.id(), value);
        long sequence = before.nextSequence();
        state = new DocumentState(before.id(), before.firstSequence(), sequence + 1, before.attributes());
        return sequence;
    }

    /**
     * Trims all values before {@code sequence}, or all values if the list ends before it. The document and its next
     * sequence remain. Does nothing if the document does not exist.
     */
    public DocumentEdit trimTo(long sequence) {
        DocumentState before = state;
        if (before != null && before.nextSequence() > 0) {
            batch.trimTo(before.id(), sequence);
            long first = Math.max(before.firstSequence(), Math.min(sequence, before.nextSequence()));
            state = new DocumentState(before.id(), first, before.nextSequence(), before.attributes());
        }
        return this;
    }

    /** Replaces the document's attributes. Creates the document if it does not exist. */
    public DocumentEdit attributes(Attributes replacement) {
        Objects.requireNonNull(replacement, "replacement");
        DocumentState before = created();
        state = new DocumentState(before.id(), before.firstSequence(), before.nextSequence(), replacement);
        return this;
    }

    /** Deletes the document with its values and attributes. Does nothing if the document does not exist. */
    public DocumentEdit delete() {
        if (state != null && state.nextSequence() > 0) {
            batch.delete(state.id());
        }
        state = null;
        return this;
    }

    /**
     * Renames another document to this name. A document that already has this name is deleted with its values. The old
     * name of the other document becomes free. The other document must exist and be part of the same edit.
     */
    public DocumentEdit takeOver(DocumentEdit other) {
        if (other.state == null || other == this) {
            throw new IllegalArgumentException("there is no other document to take over");
        }
        delete();
        state = other.state;
        other.handedOver = listed();
        other.state = null;
        return this;
    }

    /** Whether another document has taken over this document's list, and no new document has this name. */
    boolean handedOver() {
        return handedOver && state == null;
    }

    private boolean listed() {
        return state != null && state.nextSequence() > 0;
    }

    /**
     * Returns the catalog's document if the edit keeps it; null if the edit creates, replaces, or removes the document.
     */
    private @Nullable CatalogDocument kept() {
        return document != null && state != null && document.id == state.id() ? document : null;
    }

    /** Whether the change affects the catalog. A change to only the values of a document with a list does not. */
    boolean changesCatalog() {
        CatalogDocument kept = kept();
        if (kept == null || state == null) {
            return document != null || state != null;
        }
        return !state.attributes().equals(kept.attributes) || listed() != kept.listed;
    }

    /**
     * Returns the catalog entry that the change requires, with this sequence, or null if it requires none. The removal
     * of a document with a list needs no entry, and thus no space, because the absence of the list records it, unless
     * another document has taken over the list.
     */
    @Nullable
    CatalogEntry entry(long nextId, long sequence) {
        entrySequence = sequence;
        if (state != null) {
            return new CatalogEntry(CatalogEntry.Kind.of(listed()), state.id(), nextId, name, state.attributes());
        }
        CatalogDocument removed = Objects.requireNonNull(document);
        return removed.listed && !handedOver
                ? null
                : new CatalogEntry(CatalogEntry.Kind.REMOVED, removed.id, nextId, name, Attributes.EMPTY);
    }

    /** Publishes an accepted change to the catalog. Called under the stripe's lock and the lock of the log. */
    void publishToCatalog() {
        CatalogDocument kept = kept();
        if (document != null) {
            log.remove(document);
            if (kept == null) {
                stripe.remove(document);
            }
        }
        if (state != null) {
            if (kept == null) {
                kept = new CatalogDocument(name.bytes(), state.id(), state.attributes(), listed());
                stripe.add(kept);
            }
            kept.attributes = state.attributes();
            kept.listed = listed();
            log.add(kept, entrySequence);
        }
        document = kept;
    }

    /**
     * Publishes the document's sequences after an accepted change. Called under the stripe's lock, after {@link
     * #publishToCatalog}.
     */
    void publishSequences() {
        if (document != null && state != null) {
            document.firstSequence = state.firstSequence();
            document.nextSequence = state.nextSequence();
        }
    }
}
