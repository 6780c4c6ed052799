package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.ReadParts;
import io.caravan.server.protocol.http.read.ReadRequest;
import io.caravan.server.protocol.http.read.StreamAnswers;

/** {@code HEAD} of a stream: what it is and where it ends. Does not count as a use of it. */
public final class StreamHead implements Endpoint {
    private final ReadParts parts;

    public StreamHead(ReadParts parts) {
        this.parts = parts;
    }

    @Override
    public void handle(Exchange exchange) {
        DocumentName name =
                StreamName.of(exchange.route().rest(exchange.request().path()));
        DocumentService documents = parts.readiness().documents();
        parts.read(exchange, () -> exchange.answer(StreamAnswers.metadata(ReadRequest.find(documents, name))));
    }
}
