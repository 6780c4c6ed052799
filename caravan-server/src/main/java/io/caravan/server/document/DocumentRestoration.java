package io.caravan.server.document;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The restoration of a document that is too large for one change. The document is invisible until {@link #finish}; a
 * server that ends before that deletes it at its next start. For one thread, which may wait: each method returns when
 * its change is durable, and throws what a change's {@link Outcome} would receive.
 */
public final class DocumentRestoration {
    private final DocumentService documents;
    private final DocumentName name;
    private final long id;

    /** The restoration that made the document of this id. */
    DocumentRestoration(DocumentService documents, DocumentName name, long id) {
        this.documents = documents;
        this.name = name;
        this.id = id;
    }

    /** Appends values, which must fit one change. */
    public void append(List<byte[]> values) {
        change(document -> document.restoreMore(id, values));
    }

    /**
     * Makes the document visible.
     *
     * @param attributes of which only the portable ones are used
     * @param mark what the archive has of it, or null to make it a new document
     */
    public void finish(Attributes attributes, @Nullable ArchiveMark mark) {
        change(document -> document.restored(id, attributes, mark));
    }

    /** Deletes the unfinished document. */
    public void abort() {
        change(document -> document.abortRestoring(id));
    }

    private <T> void change(Function<EditedDocument, T> change) {
        Waiting.<T>to(outcome -> documents.writeLocal(name, change, outcome));
    }
}
