package io.caravan.server.document;

import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import io.caravan.server.document.space.Space;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One atomic write to one or more documents, during which no other write changes them. Used only during a call to
 * {@link DocumentService#write}, on the thread of that call.
 */
public final class DocumentEdits {
    final DocumentWrites writes;
    /** The prefetched data of the write, or null if the write prefetches none. */
    final @Nullable Prefetch preparation;
    /**
     * The documents that the write has used so far. Most writes use only one document; any further documents are also
     * in {@code others}.
     */
    final List<EditedDocument> documents = new ArrayList<>(1);
    /** The deletions of documents that may have copies in the archive. */
    final List<DeletionRecord> deletions = new ArrayList<>(0);
    /** Whether the write is a step in the migration of a document between servers. */
    boolean migrates;

    private final Edit edit;
    private final Set<DocumentName> names;
    private final Map<DocumentName, EditedDocument> others = new HashMap<>(0);

    /** Creates a write to the documents with these names, which are locked for the edit. */
    DocumentEdits(DocumentWrites writes, Edit edit, Set<DocumentName> names, @Nullable Prefetch preparation) {
        this.writes = writes;
        this.edit = edit;
        this.names = names;
        this.preparation = preparation;
    }

    /** Returns one of the locked documents. */
    public EditedDocument document(DocumentName name) {
        EditedDocument first = documents.isEmpty() ? null : documents.get(0);
        EditedDocument document = first != null && first.name().equals(name) ? first : others.get(name);
        if (document == null) {
            if (!names.contains(name)) {
                throw new MissingNameException(name);
            }
            DocumentEdit edited = edit.document(name);
            Space space = writes.spaces.find(name);
            SizeDelta size = space == null ? null : new SizeDelta(writes.store, name, edited, space);
            document = new EditedDocument(this, name, edited, size);
            documents.add(document);
            if (first != null) {
                others.put(name, document);
            }
            document.removeIfExpired();
        }
        return document;
    }

    /** Records that the write deletes a document that may have a copy in the archive. */
    void deleted(DocumentName name, ArchiveMark mark, long nextSequence) {
        deletions.add(new DeletionRecord(mark.incarnation(), nextSequence, writes.expiry.nowMillis(), name));
    }

    /**
     * Thrown when the write needs a document that is not locked; the write is repeated with that document locked as
     * well.
     */
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
