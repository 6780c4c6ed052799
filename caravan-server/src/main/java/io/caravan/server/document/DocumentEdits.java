package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import io.caravan.server.document.space.Spaces;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One atomic write to one or several documents, while no other write changes them. Used on the thread of {@link
 * DocumentService#write}, and only during the call.
 */
public final class DocumentEdits {
    private final Edit edit;
    private final Set<DocumentName> names;
    private final Expiry expiry;
    private final Spaces spaces;
    private final @Nullable Prefetch preparation;
    private final UnaryOperator<DocumentName> beside;
    /** The first document used, and the only one of most writes; the others are in the map. */
    private @Nullable EditedDocument first;

    private final Map<DocumentName, EditedDocument> others = new HashMap<>(0);
    private final List<Deletion> deletions = new ArrayList<>(0);
    private boolean carried;

    DocumentEdits(
            Edit edit,
            Set<DocumentName> names,
            Expiry expiry,
            Spaces spaces,
            UnaryOperator<DocumentName> beside,
            @Nullable Prefetch preparation) {
        this.beside = beside;
        this.edit = edit;
        this.names = names;
        this.expiry = expiry;
        this.spaces = spaces;
        this.preparation = preparation;
    }

    /** Returns the write's preparation, or null if it has none. */
    @Nullable
    Prefetch preparation() {
        return preparation;
    }

    /** Returns one of the locked documents. */
    public EditedDocument document(DocumentName name) {
        EditedDocument document = first != null && first.name().equals(name) ? first : others.get(name);
        if (document == null) {
            if (!names.contains(name)) {
                throw new MissingNameException(name);
            }
            document = new EditedDocument(this, name, edit.document(name), expiry, spaces.find(name));
            if (first == null) {
                first = document;
            } else {
                others.put(name, document);
            }
            document.removeIfExpired();
        }
        return document;
    }

    /** See {@link EditedDocument#beside}. */
    EditedDocument beside(DocumentName name) {
        return document(beside.apply(name));
    }

    /** Records that the write is a step of a document's migration between servers. */
    void carry() {
        carried = true;
    }

    /** Whether {@link #carry} was called. */
    boolean carried() {
        return carried;
    }

    /** Records that the write deletes a document that may be archived. */
    void deleted(DocumentName name, ArchiveMark mark, long nextSequence) {
        deletions.add(new Deletion(name, mark.incarnation(), nextSequence, expiry.nowMillis()));
    }

    /** Returns the deletions of documents that may be archived. */
    List<Deletion> deletions() {
        return deletions;
    }

    /** Returns the documents that the write has used and that are in a space. */
    List<EditedDocument> inSpaces() {
        if (first == null || others.isEmpty()) {
            return first == null || first.size() == null ? List.of() : List.of(first);
        }
        List<EditedDocument> found = new ArrayList<>();
        Stream.concat(Stream.of(first), others.values().stream())
                .filter(document -> document.size() != null)
                .forEach(found::add);
        return found;
    }

    /**
     * Checks that the write changes no document that is being moved, unless it is a step of the move.
     *
     * @throws DocumentException {@code MOVING}
     */
    void requireUnfenced() {
        if (first != null) {
            first.requireUnfenced();
        }
        others.values().forEach(EditedDocument::requireUnfenced);
    }

    /** Updates the state kept outside of the store, once the store has accepted the write. */
    void accepted() {
        if (first != null) {
            first.accepted();
        }
        others.values().forEach(EditedDocument::accepted);
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
