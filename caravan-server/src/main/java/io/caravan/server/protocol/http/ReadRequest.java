package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import org.jspecify.annotations.Nullable;

/**
 * A client's request to read a stream.
 *
 * @param cursor the cursor from the last live response, or null
 */
record ReadRequest(
        HttpExchange exchange,
        Endpoints endpoints,
        DocumentService documents,
        DocumentName name,
        Offset offset,
        @Nullable String cursor) {

    static ReadRequest of(HttpExchange exchange, Endpoints endpoints) {
        Query query = exchange.request().query();
        return new ReadRequest(
                exchange,
                endpoints,
                endpoints.readiness().documents(),
                exchange.documentName(),
                Offset.parse(query.get("offset"), "offset"),
                query.get("cursor"));
    }

    /** Runs part of the read on a reading thread, as {@link Endpoints#read} does. */
    void run(Runnable part) {
        endpoints.read(exchange, part);
    }

    /**
     * Returns the document, and extends its sliding expiry because it is being read. Throws {@link Problem} if the
     * document does not exist.
     */
    DocumentInfo use() {
        DocumentInfo info = find(documents, name);
        documents.use(name, info);
        return info;
    }

    /** Returns the current state of the document. Throws {@link Problem} if the document no longer has this id. */
    DocumentInfo findAgain(long id) {
        DocumentInfo info = find(documents, name);
        if (info.id() != id) {
            throw notFound(name);
        }
        return info;
    }

    String nextCursor() {
        return StreamResponses.cursor(cursor);
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
