package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.PRESENT;
import static io.caravan.server.document.DocumentAttributes.RESTORING;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Restores a document that is too large for one write. The document is invisible until {@link #finish}. If the server
 * stops before {@link #finish}, it deletes the document at the next start. Used by one thread, which may wait. Each
 * method returns when its write is durable, and throws the failure that a write's {@link Outcome} would receive.
 */
public final class DocumentRestoration {
    private final DocumentService documents;
    private final DocumentName name;
    private final boolean replaces;
    private final long id;

    /**
     * Creates the invisible document, whose first value will have this sequence.
     *
     * @param replaces whether it will replace the document of this name, which stays visible until then. Only for
     *     offline restores: {@link #finish} deletes that document without a check that no client has appended to it
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}
     */
    public DocumentRestoration(DocumentService documents, DocumentName name, long firstSequence, boolean replaces) {
        this.documents = documents;
        this.name = name;
        this.replaces = replaces;
        this.id = change(document -> {
            EditedDocument restored = restored(document);
            restored.requireMissing();
            return restored.arrive(
                    DocumentAttributes.NONE.withStart(firstSequence).with(RESTORING, PRESENT), List.of());
        });
    }

    /** Appends values, which must fit in one write. */
    public void append(List<byte[]> values) {
        change(document -> restored(document).arrive(restoring(document), values));
    }

    /**
     * Makes the document visible, and deletes the one that it replaces without a record for the archive.
     *
     * @param attributes the attributes, of which only the portable ones are used
     * @param mark the document's state in the archive, or null to make it a new document
     */
    public void finish(Attributes attributes, @Nullable ArchiveMark mark) {
        change(document -> {
            DocumentAttributes made = EditedDocument.restored(
                    attributes, mark, restoring(document).base());
            if (replaces) {
                document.deleteUnnoted();
                document.replaceBy(restored(document));
            }
            return document.arrive(made, List.of());
        });
    }

    public void abort() {
        change(document -> restored(document).is(id) && restored(document).abortRestoring());
    }

    /** Returns the document that is being restored. */
    private EditedDocument restored(EditedDocument document) {
        return replaces ? document.replacement() : document;
    }

    private DocumentAttributes restoring(EditedDocument document) {
        EditedDocument restored = restored(document);
        if (!restored.is(id) || !restored.attributes().restoring()) {
            throw document.rejected(Reason.CHANGED, "is no longer being restored");
        }
        return restored.attributes();
    }

    private <T> T change(Function<EditedDocument, T> change) {
        return Outcome.<T>await(outcome -> documents.writeLocal(name, change, outcome));
    }
}
