package io.caravan.server.document;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import java.util.Objects;
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
     * @throws DocumentException {@link Reason#GONE}, {@link Reason#RESTORING}
     */
    public @Nullable DocumentInfo info() {
        DocumentInfo info = evenDeleted();
        return info == null ? null : visible(name, info);
    }

    /** The document, if it may be seen. */
    static DocumentInfo visible(DocumentName name, DocumentInfo info) {
        if (info.attributes().deleted()) {
            throw gone(name);
        }
        if (info.attributes().restoring()) {
            throw new DocumentException(
                    Reason.RESTORING, name, "is being restored from the archive; try again in a moment");
        }
        return info;
    }

    private static DocumentException gone(DocumentName name) {
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

    /** The document whose own list has these sequences. */
    static DocumentInfo info(long id, long ownFirst, long ownNext, DocumentAttributes attributes) {
        long base = attributes.base();
        Fork fork = attributes.fork();
        long first = fork != null && ownFirst == 0 ? fork.firstSequence() : base + ownFirst;
        return new DocumentInfo(id, first, base + ownNext, attributes);
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
        if (fork != null) {
            edit.attributes(attributes
                    .withFork(fork.withFirstSequence(Math.min(sequence, fork.sequence())))
                    .raw());
        }
        edit.trimTo(Math.max(0, sequence - attributes.base()));
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

    /** Deletes the document as {@link #delete} does, where the archive need not hear of it. */
    public boolean deleteUnnoted() {
        DocumentInfo info = info();
        if (info == null) {
            return false;
        }
        removeOrHide(new DocumentInfo(
                info.id(),
                info.firstSequence(),
                info.nextSequence(),
                info.attributes().withoutArchived()));
        return true;
    }

    void removeIfExpired() {
        DocumentInfo info = evenDeleted();
        if (info != null && !info.attributes().deleted() && expiry.expired(info.id(), info.attributes())) {
            removeOrHide(info);
        }
    }

    private void removeOrHide(DocumentInfo info) {
        ArchiveMark mark = info.attributes().archived();
        if (mark != null) {
            edits.deleted(name, mark, info.nextSequence());
        }
        if (info.attributes().forks() > 0) {
            edit.attributes(info.attributes().withoutArchived().withDeleted().raw());
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

    /** Says what an archive has of the document, which is no use of it. */
    void mark(DocumentInfo info, ArchiveMark mark) {
        edit.attributes(info.attributes().withArchived(mark).raw());
    }

    /**
     * Creates the document as an archive has it; there must be none.
     *
     * @param attributes of which those are taken that are not another store's own affair
     * @param mark what the archive has, or null when the document is to be a new one
     * @param firstSequence sequence that the first value gets
     * @throws DocumentException {@link Reason#EXISTS}, {@link Reason#GONE}, {@link Reason#RESTORING}
     */
    public void restore(Attributes attributes, @Nullable ArchiveMark mark, long firstSequence, List<byte[]> values) {
        requireMissing();
        edit.attributes(restored(attributes, mark, firstSequence).raw());
        values.forEach(edit::append);
        used = true;
    }

    private static DocumentAttributes restored(Attributes attributes, @Nullable ArchiveMark mark, long firstSequence) {
        DocumentAttributes portable = DocumentAttributes.of(
                        DocumentAttributes.of(attributes).portable())
                .withStart(firstSequence);
        return mark == null ? portable : portable.withArchived(mark);
    }

    /** Begins what {@link #restoreMore} and {@link #restored} finish; nobody sees the document before. Returns its id. */
    long beginRestoring(long firstSequence) {
        requireMissing();
        edit.attributes(
                DocumentAttributes.NONE.withStart(firstSequence).withRestoring().raw());
        return Objects.requireNonNull(edit.state()).id();
    }

    private void requireMissing() {
        if (info() != null) {
            throw new DocumentException(Reason.EXISTS, name, "exists, and cannot be restored");
        }
    }

    /** Appends to a document that is being restored. */
    void restoreMore(long id, List<byte[]> values) {
        restoring(id);
        values.forEach(edit::append);
    }

    /** Makes a document visible that was restored. */
    void restored(long id, Attributes attributes, @Nullable ArchiveMark mark) {
        DocumentInfo info = restoring(id);
        used = true;
        edit.attributes(restored(attributes, mark, info.attributes().base()).raw());
    }

    /** Deletes a document that is being restored, if it is still there. */
    boolean abortRestoring(long id) {
        DocumentInfo info = evenDeleted();
        boolean there = info != null && info.id() == id && info.attributes().restoring();
        if (there) {
            edit.delete();
        }
        return there;
    }

    private DocumentInfo restoring(long id) {
        DocumentInfo info = evenDeleted();
        if (info == null || info.id() != id || !info.attributes().restoring()) {
            throw new DocumentException(Reason.CHANGED_MEANWHILE, name, "is not being restored any more");
        }
        return info;
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
