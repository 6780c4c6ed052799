package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Addition;
import io.caravan.server.document.Addition.Added;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Producer;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.JsonBody;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.protocol.http.codec.Request;
import io.caravan.server.protocol.http.codec.RequestHeaders;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.StreamAnswers;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.function.Consumer;

/** {@code POST} to a stream: appends its body, closes it, or, with the parameter {@code trim}, drops its oldest values. */
public final class StreamAppend implements Endpoint {
    /** JSON of more than this is taken apart on another thread. */
    private static final int SMALL_BYTES = 16 * 1024;

    private final Writes writes;
    private final JsonBody jsonBody;
    private final StreamTrim trim;

    public StreamAppend(Writes writes, JsonBody jsonBody) {
        this.writes = writes;
        this.jsonBody = jsonBody;
        this.trim = new StreamTrim(writes);
    }

    @Override
    public void handle(Exchange exchange) {
        Request request = exchange.request();
        DocumentName name = StreamName.of(exchange.route().rest(request.path()));
        if (request.query().get(StreamTrim.PARAMETER) != null) {
            trim.handle(exchange, name);
            return;
        }
        Producer producer = RequestHeaders.producer(request);
        boolean close = request.flag(StreamHeaders.CLOSED);
        boolean empty = request.body().length == 0;
        String contentType = RequestHeaders.contentType(request);
        if (empty && !close) {
            throw ProblemException.badRequest(
                    "empty_body",
                    "the body is the value to append, and must not be empty unless Stream-Closed is true");
        }
        if (!empty && contentType == null) {
            throw ProblemException.badRequest("content_type_missing", "a body needs a Content-Type, the stream's");
        }
        boolean json = !empty && contentType != null && ContentTypes.isJson(contentType);
        String seq = request.header(StreamHeaders.SEQ);
        Consumer<DocumentService> append = documents -> documents.append(
                name,
                new Addition(values(name, request.body(), json), close, empty ? null : contentType, seq, producer),
                writes.answering(exchange, added -> answer(added, empty)));
        if (json && request.body().length > SMALL_BYTES) {
            writes.runApart(exchange, append);
        } else {
            writes.run(exchange, append);
        }
    }

    private List<byte[]> values(DocumentName name, byte[] body, boolean json) {
        if (body.length == 0) {
            return List.of();
        }
        if (!json) {
            return List.of(body);
        }
        List<byte[]> messages = jsonBody.messages(name, body);
        if (messages.isEmpty()) {
            throw ProblemException.badRequest("empty_array", "the array holds no messages to append");
        }
        return messages;
    }

    private static Answer answer(Added added, boolean closeOnly) {
        Producer producer = added.producer();
        DocumentInfo info = added.info();
        boolean appended = producer != null && added.result() == Addition.Result.DONE && !closeOnly;
        Answer answer = StreamAnswers.of(appended ? HttpResponseStatus.OK : HttpResponseStatus.NO_CONTENT, info)
                .header("Cache-Control", "no-store");
        if (producer != null) {
            answer.header(StreamHeaders.PRODUCER_EPOCH, Long.toString(producer.epoch()))
                    .header(StreamHeaders.PRODUCER_SEQ, Long.toString(producer.sequence()));
        }
        return answer;
    }
}
