package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import java.util.List;

/** A read that waits a limited time for a new value. Only one check uses the fields at a time. */
final class LongPoll extends LiveRead {
    private static final long UNKNOWN = -1;

    private final ReadRequest request;
    private long documentId = UNKNOWN;
    private long from;

    LongPoll(ReadRequest request) {
        super(request.exchange, request.documents, 1);
        this.request = request;
    }

    @Override
    void check(List<DocumentName> names) {
        exchange.read(() -> readOrWait(names.isEmpty()));
    }

    private void readOrWait(boolean last) {
        DocumentInfo info = document();
        boolean closed = info.attributes().closed();
        if (info.nextSequence() > from) {
            request.send(info, from, head(info));
        } else if (closed || last) {
            exchange.respond(nothing(closed));
        } else {
            exchange.loop().execute(() -> wait.checked(List.of()));
        }
    }

    private DocumentInfo document() {
        if (documentId != UNKNOWN) {
            DocumentInfo now = request.findAgain(documentId);
            if (request.offset.isNow()) {
                Offset.checkRetained(from, now);
            } else {
                from = request.offset.in(now);
            }
            return now;
        }
        DocumentInfo info = request.use();
        from = request.offset.in(info);
        documentId = info.id();
        return info;
    }

    private Response head(DocumentInfo info) {
        Response head = StreamResponses.read(info).header(StreamHeaders.CURSOR, request.nextCursor());
        if (request.offset.isNow()) {
            // The same URL returns other values for the next request.
            return head.uncached();
        }
        String visibility = exchange.protocol().authenticator.required() ? "private" : "public";
        return head.header("ETag", StreamResponses.etag(info, from))
                .header("Cache-Control", visibility + ", max-age=60, stale-while-revalidate=300");
    }

    private Response nothing(boolean closed) {
        return new Response(204)
                .uncached()
                .header(StreamHeaders.NEXT_OFFSET, Offset.of(from))
                .header(StreamHeaders.CURSOR, request.nextCursor())
                .flag(StreamHeaders.UP_TO_DATE, true)
                .flag(StreamHeaders.CLOSED, closed);
    }
}
