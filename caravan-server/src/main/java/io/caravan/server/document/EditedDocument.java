package io.caravan.server.document;

import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One document within a change: what it is with the change so far, and what can be done to it. A document that has expired
 * is removed with the change, whatever that does, and is not there.
 */
public final class EditedDocument {
    private final DocumentEdits edits;
    private final DocumentName name;
    private final DocumentEdit edit;
    private final Expiry expiry;
    private final long idBefore;
    private boolean used;

    EditedDocument(DocumentEdits edits, DocumentName name, DocumentEdit edit, Expiry expiry) {
        this.edits = edits;
        this.name = name;
        this.edit = edit;
        this.expiry = expiry;
        DocumentState state = edit.state();
        this.idBefore = state == null ? 0 : state.id();
    }

    public DocumentName name() {
        return name;
    }

    /**
     * The document, or null when there is none.
     *
     * @throws DocumentException {@link Reason#GONE}
     */
    public @Nullable DocumentInfo info() {
        DocumentInfo info = evenDeleted();
        if (info != null && info.attributes().deleted()) {
            throw gone(name);
        }
        return info;
    }

    static DocumentException gone(DocumentName name) {
        return new DocumentException(
                Reason.GONE, name, "is deleted; documents that were forked off it still need its values");
    }

    /** The document, even one that is kept for its forks only. */
    @Nullable
    DocumentInfo evenDeleted() {
        DocumentState state = edit.state();
        return state == null
                ? null
                : info(
                        state.id(),
                        state.firstSequence(),
                        state.nextSequence(),
                        DocumentAttributes.of(state.attributes()));
    }

    /** The document whose own list has these sequences: a fork's begin where it was forked off. */
    static DocumentInfo info(long id, long ownFirst, long ownNext, DocumentAttributes attributes) {
        Fork fork = attributes.fork();
        if (fork == null) {
            return new DocumentInfo(id, ownFirst, ownNext, attributes);
        }
        long first = ownFirst > 0 ? fork.sequence() + ownFirst : fork.firstSequence();
        return new DocumentInfo(id, first, fork.sequence() + ownNext, attributes);
    }

    /** Creates the document, empty; there must be none. */
    void create(DocumentAttributes attributes) {
        used = true;
        edit.attributes(attributes.raw());
    }

    /**
     * Appends values, and creates the document when there is none.
     *
     * @return the sequence of the first one
     * @throws DocumentException {@link Reason#GONE}, {@link Reason#CLOSED}, {@link Reason#NOT_JSON}
     */
    public long append(List<byte[]> values) {
        DocumentInfo before = appendable();
        if (before != null && before.attributes().isJson()) {
            values.forEach(value -> JsonMessages.validate(name, value));
        }
        return append(before, values);
    }

    /** The same with values that are known to be JSON if they have to be. */
    long appendValid(List<byte[]> values) {
        return append(appendable(), values);
    }

    private @Nullable DocumentInfo appendable() {
        DocumentInfo before = info();
        if (before != null && before.attributes().closed()) {
            throw closed(name, before);
        }
        return before;
    }

    private long append(@Nullable DocumentInfo before, List<byte[]> values) {
        used = true;
        values.forEach(edit::append);
        return before == null ? 0 : before.nextSequence();
    }

    static DocumentException closed(DocumentName name, DocumentInfo info) {
        return new DocumentException(Reason.CLOSED, name, "is closed", 0, info.nextSequence());
    }

    /**
     * Drops all values before {@code sequence}; all of them when the document ends before it. It stays, and so does its next
     * sequence. Nothing happens when there is no document.
     *
     * @throws DocumentException {@link Reason#GONE}, {@link Reason#HAS_FORKS}
     */
    public void trimTo(long sequence) {
        DocumentInfo info = info();
        if (info == null || sequence <= info.firstSequence()) {
            return;
        }
        used = true;
        DocumentAttributes attributes = info.attributes();
        if (attributes.forks() > 0) {
            throw new DocumentException(
                    Reason.HAS_FORKS,
                    name,
                    "cannot be trimmed: " + attributes.forks()
                            + " documents that were forked off it need its values; delete them first",
                    0,
                    attributes.forks());
        }
        Fork fork = attributes.fork();
        if (fork == null) {
            edit.trimTo(sequence);
            return;
        }
        edit.attributes(attributes
                .withFork(fork.withFirstSequence(Math.min(sequence, fork.sequence())))
                .raw());
        edit.trimTo(Math.max(0, sequence - fork.sequence()));
    }

    /**
     * Deletes the document. One that others were forked off loses its name's meaning at once, and its values with the last
     * of them.
     *
     * @return false when there was none
     * @throws DocumentException {@link Reason#GONE}
     */
    public boolean delete() {
        DocumentInfo info = info();
        if (info == null) {
            return false;
        }
        removeOrHide(info);
        return true;
    }

    void removeIfExpired() {
        DocumentInfo info = evenDeleted();
        if (info != null && !info.attributes().deleted() && expiry.expired(info.id(), info.attributes())) {
            removeOrHide(info);
        }
    }

    private void removeOrHide(DocumentInfo info) {
        if (info.attributes().forks() > 0) {
            edit.attributes(info.attributes().withDeleted().raw());
        } else {
            remove(info);
        }
    }

    private void remove(DocumentInfo info) {
        edit.delete();
        Fork fork = info.attributes().fork();
        if (fork != null) {
            edits.document(fork.source()).forkRemoved();
        }
    }

    void forkAdded() {
        countForks(1);
    }

    /** With its last fork a deleted document goes too, and perhaps the one that it was forked off. */
    private void forkRemoved() {
        DocumentInfo left = countForks(-1);
        if (left.attributes().deleted() && left.attributes().forks() == 0) {
            remove(left);
        }
    }

    private DocumentInfo countForks(long change) {
        DocumentInfo info = evenDeleted();
        if (info == null) {
            throw new IllegalStateException("document '" + name + "' has forks and does not exist");
        }
        DocumentAttributes attributes = info.attributes();
        DocumentAttributes counted = attributes.withForks(attributes.forks() + change);
        edit.attributes(counted.raw());
        return new DocumentInfo(info.id(), info.firstSequence(), info.nextSequence(), counted);
    }

    /**
     * Replaces what the document is beside its values, and creates it when there is none.
     *
     * @throws DocumentException {@link Reason#GONE}
     */
    public void attributes(DocumentAttributes attributes) {
        info();
        used = true;
        edit.attributes(attributes.raw());
    }

    void accepted() {
        DocumentState state = edit.state();
        long id = state == null ? 0 : state.id();
        if (idBefore != 0 && id != idBefore) {
            expiry.forget(idBefore);
        }
        if (state != null && used) {
            expiry.use(id, DocumentAttributes.of(state.attributes()));
        }
    }
}
