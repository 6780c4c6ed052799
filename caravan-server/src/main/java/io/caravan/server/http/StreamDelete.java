package io.caravan.server.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.EditedDocument;
import io.netty.handler.codec.http.HttpResponseStatus;

/** {@code DELETE} of a stream. */
final class StreamDelete implements Endpoint {
    private final Writes writes;

    StreamDelete(Writes writes) {
        this.writes = writes;
    }

    @Override
    public void handle(Exchange exchange) {
        DocumentName name =
                StreamName.of(exchange.route().rest(exchange.request().path()));
        writes.run(
                exchange,
                documents -> documents.write(
                        name, EditedDocument::delete, writes.answering(exchange, existed -> answer(name, existed))));
    }

    private static Answer answer(DocumentName name, boolean existed) {
        if (!existed) {
            throw ReadRequest.notFound(name);
        }
        return Answer.of(HttpResponseStatus.NO_CONTENT).header("Cache-Control", "no-store");
    }
}
