package io.caravan.server.document;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A document that is too large for one change and is restored by several. Nobody sees it before {@link #finish}; a server
 * that ends before deletes it at its next start. For one thread, which may wait: each method returns when what it did is
 * durable, and throws what the change's outcome would have been told.
 */
public final class DocumentRestoration {
    private final DocumentService documents;
    private final DocumentName name;
    private final long id;

    private DocumentRestoration(DocumentService documents, DocumentName name, long id) {
        this.documents = documents;
        this.name = name;
        this.id = id;
    }

    /** See {@link DocumentService#restoration}. */
    static DocumentRestoration begin(DocumentService documents, DocumentName name, long firstSequence) {
        long id = Waiting.<Long>to(
                outcome -> documents.writeLocal(name, document -> document.beginRestoring(firstSequence), outcome));
        return new DocumentRestoration(documents, name, id);
    }

    /** Appends values, which must fit one change. */
    public void append(List<byte[]> values) {
        change(document -> {
            document.restoreMore(id, values);
            return document;
        });
    }

    /**
     * Makes the document visible.
     *
     * @param attributes of which those are taken that are not another store's own affair
     * @param mark what the archive has of it, or null when it is to be a new document
     */
    public void finish(Attributes attributes, @Nullable ArchiveMark mark) {
        change(document -> {
            document.restored(id, attributes, mark);
            return document;
        });
    }

    /** Deletes what there is of the document. */
    public void abort() {
        change(document -> {
            document.abortRestoring(id);
            return document;
        });
    }

    private void change(Function<EditedDocument, EditedDocument> change) {
        Waiting.<EditedDocument>to(outcome -> documents.writeLocal(name, change, outcome));
    }
}
