package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import org.jspecify.annotations.Nullable;

/**
 * A client's position in a stream, which starts at an offset and advances as values are sent. The position remains in
 * the same document: a document that is created again under the name is another one. Not thread-safe.
 */
class StreamPosition {
    final DocumentService documents;
    final DocumentName name;
    final Offset offset;
    /** The sequence of the next value to send; set by the first successful {@link #find}. */
    long next;
    /** The id of the document; 0 before the first successful {@link #find}. */
    long documentId;
    /** Whether the document had more values after the position when it was last checked. */
    boolean behind;
    /** Whether a client that waits will receive no further value. */
    boolean over;

    StreamPosition(DocumentService documents, DocumentName name, Offset offset) {
        this.documents = documents;
        this.name = name;
        this.offset = offset;
    }

    /** Whether the document has been found, and the position is known. */
    final boolean known() {
        return documentId != 0;
    }

    /**
     * Returns the current state of the document, or null if it does not exist or another one has its name. The first
     * call determines the position, and extends the document's sliding expiry because the document is being read.
     * Throws {@link Problem} if the document does not have the offset.
     */
    final @Nullable DocumentInfo find() {
        DocumentInfo info = documents.find(name);
        if (info != null && !known()) {
            documents.use(name, info);
            next = offset.in(info);
            documentId = info.id();
        }
        return info == null || info.id() != documentId ? null : info;
    }

    /** Returns the current state of the document, as {@link #find} does. Throws {@link Problem} if there is none. */
    final DocumentInfo get() {
        return required(find(), name);
    }

    /**
     * Reads the values from the position up to the end of this state of the document. Reads no values if they were
     * trimmed or the document was deleted.
     */
    final void read(DocumentInfo info, DocumentReader reader) {
        long from = next;
        SequenceRange rest = new SequenceRange(from, info.nextSequence());
        documents.read(
                name, now -> now.id() == info.id() && now.firstSequence() <= from ? rest : SequenceRange.EMPTY, reader);
    }

    final DocumentException changedDuringRead() {
        return new DocumentException(
                DocumentException.Reason.CHANGED, name, "was trimmed or deleted while it was being read");
    }

    /** Returns the document with this name. Throws {@link Problem} if it does not exist. */
    static DocumentInfo find(DocumentService documents, DocumentName name) {
        return required(documents.find(name), name);
    }

    static DocumentInfo required(@Nullable DocumentInfo info, DocumentName name) {
        if (info == null) {
            throw notFound(name);
        }
        return info;
    }

    static Problem notFound(DocumentName name) {
        return new Problem(404, "not_found", "document '" + name + "' does not exist");
    }
}
