package io.caravan.server.protocol.http.read;

import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.connection.Exchange;
import io.netty.handler.codec.http.HttpResponseStatus;

/** Reads of what a stream holds now. */
public final class CatchUp {
    private final ReadParts parts;

    public CatchUp(ReadParts parts) {
        this.parts = parts;
    }

    public void start(Exchange exchange, ReadRequest request) {
        DocumentService documents = parts.readiness().documents();
        parts.read(exchange, () -> read(exchange, request, documents));
    }

    private void read(Exchange exchange, ReadRequest request, DocumentService documents) {
        DocumentInfo info = request.use(documents);
        long from = request.position().in(info);
        Answer head = StreamAnswers.read(info);
        if (request.position().isNow()) {
            head.header("Cache-Control", "no-store");
        } else {
            String etag = StreamAnswers.etag(info, from);
            // A read goes to the tail, which moves: what is cached must be asked about, and costs little if unchanged.
            head.header("Cache-Control", "no-cache").header("ETag", etag);
            if (StreamAnswers.matches(request.ifNoneMatch(), etag)) {
                exchange.answer(Answer.of(HttpResponseStatus.NOT_MODIFIED)
                        .header("Cache-Control", "no-cache")
                        .header("ETag", etag));
                return;
            }
        }
        new Transfer(exchange, parts, documents, request, info, from, head).read();
    }
}
