package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Position;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.ReadRequest;
import io.caravan.server.protocol.http.read.StreamAnswers;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Objects;

/**
 * Drops the values of a stream before an offset: our own extension of the protocol. A {@code POST}, and not a {@code DELETE},
 * so that the request of a client whose parameter gets lost on its way is refused, and deletes nothing.
 */
final class StreamTrim {
    static final String PARAMETER = "trim";

    private final Writes writes;

    StreamTrim(Writes writes) {
        this.writes = writes;
    }

    void handle(Exchange exchange, DocumentName name) {
        exchange.operation("trimStream");
        if (exchange.request().body().length > 0) {
            throw ProblemException.badRequest("body_not_empty", "a trim has no body; append with a request of its own");
        }
        String token = exchange.request().query().get(PARAMETER);
        Position position = Position.parse(Objects.requireNonNull(token), PARAMETER);
        writes.run(
                exchange,
                documents -> documents.write(
                        name, document -> trim(document, position), writes.answering(exchange, StreamTrim::answer)));
    }

    private static DocumentInfo trim(EditedDocument document, Position position) {
        DocumentInfo info = ReadRequest.required(document.info(), document.name());
        document.trimTo(position.atMostIn(info));
        return ReadRequest.required(document.info(), document.name());
    }

    private static Answer answer(DocumentInfo info) {
        return StreamAnswers.of(HttpResponseStatus.NO_CONTENT, info)
                .header("Cache-Control", "no-store")
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()));
    }
}
