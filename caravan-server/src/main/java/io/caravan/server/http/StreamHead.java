package io.caravan.server.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;

/** {@code HEAD} of a stream: what it is and where it ends. Does not count as a use of it. */
final class StreamHead implements Endpoint {
    private final ReadParts parts;

    StreamHead(ReadParts parts) {
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
