package io.caravan.catalog;

import io.caravan.WriteBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One document within an {@link Edit}: its state with the edit's operations so far, and the operations themselves. Use
 * it only between {@link Catalog#edit(DocumentName)} and {@link Edit#commit}, on the edit's thread.
 */
public final class DocumentEdit {
    private final DocumentName name;
    private final DocumentTable stripe;
    private final CatalogLog log;
    private final WriteBatch batch;
    private final @Nullable Document original;

    private boolean exists;
    /** Whether another document has taken the list over. */
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

    /** The document as it will be, or null when there will be none. */
    public @Nullable DocumentState state() {
        return exists ? new DocumentState(id, firstSequence, nextSequence, attributes) : null;
    }

    /** Creates the document, without values, unless it exists. */
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
     * Appends a value, and creates the document when there is none.
     *
     * @return the value's sequence
     */
    public long append(byte[] value) {
        create();
        batch.append(id, value);
        return nextSequence++;
    }

    /**
     * Drops all values before {@code sequence}; all of them when the list ends before it. The document stays, and so
     * does its next sequence. Nothing happens when there is no document.
     */
    public DocumentEdit trimTo(long sequence) {
        if (nextSequence > 0) {
            batch.trimTo(id, sequence);
            firstSequence = Math.max(firstSequence, Math.min(sequence, nextSequence));
        }
        return this;
    }

    /** Replaces the document's attributes, and creates the document when there is none. */
    public DocumentEdit attributes(Attributes replacement) {
        create();
        attributes = Objects.requireNonNull(replacement, "replacement");
        return this;
    }

    /** Deletes the document with its values and attributes. Nothing happens when there is none. */
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
     * Gives this name the document of another name, which there is none of then; a document that had this name is deleted
     * with its values. The other one must exist, and be part of the same edit.
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

    /** Whether another document has taken this one's list over, and there is no other of the name. */
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

    /** Whether the change concerns the catalog. Only a change of values does not, in a document that has had some. */
    boolean changesCatalog() {
        if (keepsDocument()) {
            return !attributes.equals(original().attributes) || listed() != original().listed;
        }
        return exists || original != null;
    }

    /**
     * The entry that the change needs, or null when it needs none: the absence of its list says that a document that
     * had one was removed, so that a removal takes no space. A list that another document has taken over is not absent.
     */
    @Nullable
    CatalogEntry entry(long nextId) {
        if (exists) {
            CatalogEntry.Kind kind = listed() ? CatalogEntry.Kind.WITH_LIST : CatalogEntry.Kind.WITHOUT_LIST;
            return new CatalogEntry(kind, id, nextId, name.bytes(), attributes);
        }
        Document removed = original();
        return removed.listed && !handedOver
                ? null
                : new CatalogEntry(CatalogEntry.Kind.REMOVED, removed.id, nextId, removed.name, Attributes.EMPTY);
    }

    /**
     * Makes an accepted change of the catalog visible; called under both locks.
     *
     * @param entrySequence sequence of {@link #entry}, when there is one
     */
    void publishToCatalog(EntryOrder order, long entrySequence) {
        if (original != null) {
            order.remove(original);
        }
        if (!exists) {
            stripe.remove(original());
            return;
        }
        Document document = keepsDocument() ? original() : replace();
        document.attributes = attributes;
        document.listed = listed();
        document.entrySequence = entrySequence;
        order.add(document);
    }

    private Document replace() {
        if (original != null) {
            stripe.remove(original);
        }
        Document document = new Document(name.bytes(), id, attributes, listed());
        stripe.add(document);
        return document;
    }

    /** Makes an accepted change of values visible; called under the stripe's lock, after {@link #publishToCatalog}. */
    void publishSequences() {
        if (exists) {
            Document document = keepsDocument() ? original() : Objects.requireNonNull(stripe.find(name));
            document.firstSequence = firstSequence;
            document.nextSequence = nextSequence;
        }
    }

    private Document original() {
        return Objects.requireNonNull(original);
    }
}
