package io.caravan.server.protocol.http.read;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Position;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/**
 * Which part of which stream a client wants to read.
 *
 * @param cursor what the client got with the last live response, or null
 * @param ifNoneMatch what it has of the stream, or null
 */
public record ReadRequest(
        DocumentName name,
        Position position,
        @Nullable String cursor,
        @Nullable String ifNoneMatch) {

    /** The document, whose sliding expiry is put off, because it is being read. */
    DocumentInfo use(DocumentService documents) {
        DocumentInfo info = find(documents, name);
        documents.use(name, info);
        return info;
    }

    /** The document of this name. */
    public static DocumentInfo find(DocumentService documents, DocumentName name) {
        return required(documents.find(name), name);
    }

    public static DocumentInfo required(@Nullable DocumentInfo info, DocumentName name) {
        if (info == null) {
            throw notFound(name);
        }
        return info;
    }

    /** The document of this name, as long as it is the one with this id. */
    static DocumentInfo findAgain(DocumentService documents, DocumentName name, long id) {
        DocumentInfo info = find(documents, name);
        if (info.id() != id) {
            throw notFound(name);
        }
        return info;
    }

    public static ProblemException notFound(DocumentName name) {
        return new ProblemException(
                new Problem(HttpResponseStatus.NOT_FOUND, "not_found", "document '" + name + "' does not exist"));
    }
}
