package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A change of several documents, all or nothing, while nobody else changes them. On the thread of {@link
 * DocumentService#write}, during the call only.
 */
public final class DocumentEdits {
    private final Edit edit;
    private final Set<DocumentName> names;
    private final Expiry expiry;
    /** The document that was asked for first, which most changes leave it at; the others are in the map. */
    private @Nullable EditedDocument first;

    private final Map<DocumentName, EditedDocument> others = new HashMap<>(0);
    private final List<Deletion> deletions = new ArrayList<>(0);

    DocumentEdits(Edit edit, Set<DocumentName> names, Expiry expiry) {
        this.edit = edit;
        this.names = names;
        this.expiry = expiry;
    }

    /** One of the documents that the change is for. */
    public EditedDocument document(DocumentName name) {
        EditedDocument document = first != null && first.name().equals(name) ? first : others.get(name);
        if (document == null) {
            if (!names.contains(name)) {
                throw new MissingNameException(name);
            }
            document = new EditedDocument(this, name, edit.document(name), expiry);
            if (first == null) {
                first = document;
            } else {
                others.put(name, document);
            }
            document.removeIfExpired();
        }
        return document;
    }

    /** An archive may have a document that the change deletes. */
    void deleted(DocumentName name, ArchiveMark mark, long nextSequence) {
        deletions.add(new Deletion(name, mark.incarnation(), nextSequence, expiry.nowMillis()));
    }

    /** Documents that the change deletes and an archive may have. */
    List<Deletion> deletions() {
        return deletions;
    }

    /** What is to be known outside of the store, once it has accepted the change. */
    void accepted() {
        if (first != null) {
            first.accepted();
        }
        others.values().forEach(EditedDocument::accepted);
    }
}
