package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One atomic write to one or more documents, during which no other write changes them. Used only during a call to
 * {@link DocumentService#write}, on the thread of that call.
 */
public final class DocumentEdits {
    final DocumentWrites writes;
    /** The documents that the write has used so far, usually one; any others are also in {@code others}. */
    final List<EditedDocument> documents = new ArrayList<>(1);
    /** The effects on the sizes of those documents that are in spaces. */
    List<SizeDelta> sizes = List.of();
    /** The deletions of documents that may have copies in the archive. */
    List<DeletionRecord> deletions = List.of();
    /** The size of the values that the write has read. */
    long readBytes;
    /** The total length of the JSON that the write has validated immediately. */
    long shortJsonBytes;
    /** Whether the write is a step in the migration of a document between servers. */
    boolean migrates;

    /** The prefetched data of the write, or null if the write prefetches none. */
    private @Nullable Prefetch preparation;

    private final Edit edit;
    private final Set<DocumentName> names;
    private Map<DocumentName, EditedDocument> others = Map.of();

    /** Creates a write to the documents with these names, which are locked for the edit. */
    DocumentEdits(DocumentWrites writes, Edit edit, Set<DocumentName> names, @Nullable Prefetch preparation) {
        this.writes = writes;
        this.edit = edit;
        this.names = names;
        this.preparation = preparation;
    }

    /** Makes the changes; throws {@link Prefetch.UnpreparedException} if they need more data than was prefetched. */
    <T> T apply(Function<DocumentEdits, T> change) {
        T result;
        try {
            result = change.apply(this);
        } catch (RuntimeException rejected) {
            requireComplete();
            throw rejected;
        }
        requireComplete();
        return result;
    }

    private void requireComplete() {
        if (preparation != null) {
            preparation.requireComplete();
        }
    }

    /** Returns the prefetched data, to which the write may add what it lacks; null if the write prefetches none. */
    @Nullable
    Prefetch preparation() {
        preparation = preparation == null ? null : preparation.own();
        return preparation;
    }

    /** Returns one of the locked documents. */
    public EditedDocument document(DocumentName name) {
        EditedDocument first = documents.isEmpty() ? null : documents.get(0);
        EditedDocument document = first != null && first.name().equals(name) ? first : others.get(name);
        if (document == null) {
            if (!names.contains(name)) {
                throw new MissingNameException(name);
            }
            document = new EditedDocument(this, name, edit.document(name), writes.spaces.find(name));
            documents.add(document);
            if (first != null) {
                others = others.isEmpty() ? new HashMap<>() : others;
                others.put(name, document);
            }
            if (document.size() != null) {
                sizes = sizes.isEmpty() ? new ArrayList<>(1) : sizes;
                sizes.add(document.size());
            }
            document.removeIfExpired();
        }
        return document;
    }

    /** Records that the write deletes a document that may have a copy in the archive. */
    void deleted(DocumentName name, ArchiveMark mark, long nextSequence) {
        deletions = deletions.isEmpty() ? new ArrayList<>(1) : deletions;
        deletions.add(new DeletionRecord(mark.incarnation(), nextSequence, writes.expiry.nowMillis(), name));
    }

    /** Ends the reservations and the records of use that the write does not need because it was accepted or rejected. */
    void ended(boolean accepted) {
        for (SizeDelta size : sizes) {
            size.ended(accepted);
        }
        for (EditedDocument document : documents) {
            document.ended(accepted);
        }
    }

    /** Thrown when the write needs a document that is not locked; the write is repeated with that document locked. */
    static final class MissingNameException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient DocumentName name;

        private MissingNameException(DocumentName name) {
            super(name.toString(), null, false, false);
            this.name = name;
        }

        DocumentName name() {
            return name;
        }
    }
}
