package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/**
 * Which part of which stream a client wants to read.
 *
 * @param cursor the cursor from the last live response, or null
 * @param ifNoneMatch the tags of what the client has already, or null
 */
record ReadRequest(
        DocumentName name,
        Offset offset,
        @Nullable String cursor,
        @Nullable String ifNoneMatch) {

    /** The document; extends its sliding expiry, because it is being read. */
    DocumentInfo use(DocumentService documents) {
        DocumentInfo info = find(documents, name);
        documents.use(name, info);
        return info;
    }

    /** The document of this name. */
    static DocumentInfo find(DocumentService documents, DocumentName name) {
        return required(documents.find(name), name);
    }

    static DocumentInfo required(@Nullable DocumentInfo info, DocumentName name) {
        if (info == null) {
            throw notFound(name);
        }
        return info;
    }

    /** The document of this name, if it is still the one with this id. */
    static DocumentInfo findAgain(DocumentService documents, DocumentName name, long id) {
        DocumentInfo info = find(documents, name);
        if (info.id() != id) {
            throw notFound(name);
        }
        return info;
    }

    static Problem notFound(DocumentName name) {
        return new Problem(HttpResponseStatus.NOT_FOUND, "not_found", "document '" + name + "' does not exist");
    }
}
