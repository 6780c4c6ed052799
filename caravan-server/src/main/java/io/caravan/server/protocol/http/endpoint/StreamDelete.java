package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.ReadRequest;
import io.netty.handler.codec.http.HttpResponseStatus;

/** {@code DELETE} of a stream. */
public final class StreamDelete implements Endpoint {
    private final Writes writes;

    public StreamDelete(Writes writes) {
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
