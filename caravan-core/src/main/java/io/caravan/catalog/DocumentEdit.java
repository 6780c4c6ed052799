package io.caravan.catalog;

import io.caravan.WriteBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One document within an {@link Edit}: its operations so far, and its state after these operations. Use it only between
 * {@link Catalog#edit(DocumentName)} and {@link Edit#commit}, on the edit's thread.
 */
public final class DocumentEdit {
    private final DocumentName name;
    private final DocumentTable stripe;
    private final CatalogLog log;
    private final WriteBatch batch;
    private final @Nullable CatalogDocument original;

    private boolean exists;
    /** Whether another document has taken over this document's list. */
    private boolean handedOver;

    private long id;
    private long firstSequence;
    private long nextSequence;
    private Attributes attributes = Attributes.EMPTY;

    DocumentEdit(DocumentName name, DocumentTable stripe, CatalogLog log, WriteBatch batch) {
        this.name = name;
        this.stripe = stripe;
        this.log = log;
        this.batch = batch;
        this.original = stripe.find(name);
        if (original != null) {
            exists = true;
            id = original.id;
            firstSequence = original.firstSequence;
            nextSequence = original.nextSequence;
            attributes = original.attributes;
        }
    }

    /** Returns the document as it will be after the commit, or null if it will not exist. */
    public @Nullable DocumentState state() {
        return exists ? new DocumentState(id, firstSequence, nextSequence, attributes) : null;
    }

    /** Creates the document without values, unless the document exists. */
    public DocumentEdit create() {
        if (!exists) {
            exists = true;
            id = log.newId();
            firstSequence = 0;
            nextSequence = 0;
            attributes = Attributes.EMPTY;
        }
        return this;
    }

    /**
     * Appends a value. Creates the document if it does not exist.
     *
     * @return the value's sequence
     */
    public long append(byte[] value) {
        create();
        batch.append(id, value);
        return nextSequence++;
    }

    /**
     * Trims all values before {@code sequence}, or all values if the list ends before it. The document and its next
     * sequence remain. Does nothing if the document does not exist.
     */
    public DocumentEdit trimTo(long sequence) {
        if (nextSequence > 0) {
            batch.trimTo(id, sequence);
            firstSequence = Math.max(firstSequence, Math.min(sequence, nextSequence));
        }
        return this;
    }

    /** Replaces the document's attributes. Creates the document if it does not exist. */
    public DocumentEdit attributes(Attributes replacement) {
        create();
        attributes = Objects.requireNonNull(replacement, "replacement");
        return this;
    }

    /** Deletes the document with its values and attributes. Does nothing if the document does not exist. */
    public DocumentEdit delete() {
        if (nextSequence > 0) {
            batch.delete(id);
        }
        exists = false;
        id = 0;
        firstSequence = 0;
        nextSequence = 0;
        attributes = Attributes.EMPTY;
        return this;
    }

    /**
     * Renames another document to this name. A document that already has this name is deleted with its values. The old
     * name of the other document becomes free. The other document must exist and be part of the same edit.
     */
    public DocumentEdit takeOver(DocumentEdit other) {
        if (!other.exists || other == this) {
            throw new IllegalArgumentException("there is no other document to take over");
        }
        delete();
        exists = true;
        id = other.id;
        firstSequence = other.firstSequence;
        nextSequence = other.nextSequence;
        attributes = other.attributes;
        other.handedOver = other.listed();
        other.nextSequence = 0;
        other.delete();
        return this;
    }

    /** Whether another document has taken over this document's list, and no new document has this name. */
    boolean handedOver() {
        return handedOver && !exists;
    }

    DocumentName name() {
        return name;
    }

    DocumentTable stripe() {
        return stripe;
    }

    private boolean listed() {
        return nextSequence > 0;
    }

    private boolean keepsDocument() {
        return original != null && exists && original.id == id;
    }

    /** Whether the change affects the catalog. A change to only the values of a document with a list does not. */
    boolean changesCatalog() {
        if (keepsDocument()) {
            return !attributes.equals(original().attributes) || listed() != original().listed;
        }
        return exists || original != null;
    }

    /**
     * Returns the catalog entry that the change requires, or null if it requires none. The removal of a document with a
     * list needs no entry, because the absence of the list records it. Such a removal therefore takes no space. If
     * another document has taken over the list, the removal needs an entry.
     */
    @Nullable
    CatalogEntry entry(long nextId) {
        if (exists) {
            CatalogEntry.Kind kind = listed() ? CatalogEntry.Kind.WITH_LIST : CatalogEntry.Kind.WITHOUT_LIST;
            return new CatalogEntry(kind, id, nextId, name.bytes(), attributes);
        }
        CatalogDocument removed = original();
        return removed.listed && !handedOver
                ? null
                : new CatalogEntry(CatalogEntry.Kind.REMOVED, removed.id, nextId, removed.name, Attributes.EMPTY);
    }

    /**
     * Publishes an accepted change to the catalog. Called under the stripe's lock and the lock of {@link CatalogLog}.
     *
     * @param entrySequence sequence of {@link #entry}, if the change has one
     */
    void publishToCatalog(CatalogLog.EntryOrder order, long entrySequence) {
        if (original != null) {
            order.remove(original);
        }
        if (!exists) {
            stripe.remove(original());
            return;
        }
        CatalogDocument document = keepsDocument() ? original() : replace();
        document.attributes = attributes;
        document.listed = listed();
        document.entrySequence = entrySequence;
        order.add(document);
    }

    private CatalogDocument replace() {
        if (original != null) {
            stripe.remove(original);
        }
        CatalogDocument document = new CatalogDocument(name.bytes(), id, attributes, listed());
        stripe.add(document);
        return document;
    }

    /**
     * Publishes the document's sequences after an accepted change. Called under the stripe's lock, after {@link
     * #publishToCatalog}.
     */
    void publishSequences() {
        if (exists) {
            CatalogDocument document = keepsDocument() ? original() : Objects.requireNonNull(stripe.find(name));
            document.firstSequence = firstSequence;
            document.nextSequence = nextSequence;
        }
    }

    private CatalogDocument original() {
        return Objects.requireNonNull(original);
    }
}
