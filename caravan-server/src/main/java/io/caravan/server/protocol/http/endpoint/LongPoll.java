package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import io.caravan.server.protocol.http.connection.Exchange;
import io.netty.handler.codec.http.HttpResponseStatus;

/** A read that waits for a value, for a limited time. Only one look uses the fields at a time. */
final class LongPoll {
    private static final long UNKNOWN = -1;

    private final ReadRequest request;
    private final Exchange exchange;
    private final LiveWait wait;
    private long documentId = UNKNOWN;
    private long from;

    LongPoll(ReadRequest request) {
        this.request = request;
        this.exchange = request.exchange();
        this.wait = new LiveWait(request, this::look);
    }

    /** Starts; on the event loop. */
    void start() {
        wait.start(request.parts().config().longPoll());
    }

    private void look(boolean last) {
        DocumentInfo info = document();
        boolean closed = info.attributes().closed();
        if (info.nextSequence() > from) {
            new Transfer(request, info, from, head(info)).read();
        } else if (closed || last) {
            exchange.answer(nothing(closed));
        } else {
            exchange.loop().execute(wait::rest);
        }
    }

    private DocumentInfo document() {
        if (documentId != UNKNOWN) {
            DocumentInfo now = request.findAgain(documentId);
            if (request.offset().isNow()) {
                Offset.checkRetained(from, now);
            } else {
                from = request.offset().in(now);
            }
            return now;
        }
        DocumentInfo info = request.use();
        from = request.offset().in(info);
        documentId = info.id();
        return info;
    }

    private Answer head(DocumentInfo info) {
        Answer head = StreamAnswers.read(info).header(StreamHeaders.CURSOR, request.nextCursor());
        if (request.offset().isNow()) {
            // The same URL gives other values the next time.
            return head.uncached();
        }
        String visibility = request.parts().shared() ? "public" : "private";
        return head.header("ETag", StreamAnswers.etag(info, from))
                .header("Cache-Control", visibility + ", max-age=60, stale-while-revalidate=300");
    }

    private Answer nothing(boolean closed) {
        return Answer.of(HttpResponseStatus.NO_CONTENT)
                .uncached()
                .header(StreamHeaders.NEXT_OFFSET, Offset.of(from))
                .header(StreamHeaders.CURSOR, request.nextCursor())
                .flag(StreamHeaders.UP_TO_DATE, true)
                .flag(StreamHeaders.CLOSED, closed);
    }
}
