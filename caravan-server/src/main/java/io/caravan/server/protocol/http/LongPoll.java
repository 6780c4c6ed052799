package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import java.util.List;

/** A read that waits a limited time for a new value. Only one check uses the fields at a time. */
final class LongPoll extends LiveRead {
    private final ReadRequest request;

    LongPoll(ReadRequest request) {
        super(request.exchange, request.documents, 1);
        this.request = request;
    }

    @Override
    void check(List<DocumentName> names) {
        exchange.read(() -> readOrWait(names.isEmpty()));
    }

    private void readOrWait(boolean last) {
        DocumentInfo info = request.get();
        if (request.offset.isNow()) {
            Offset.checkRetained(request.next, info);
        } else {
            request.next = request.offset.in(info);
        }
        boolean closed = info.attributes().closed();
        if (info.nextSequence() > request.next) {
            request.send(info, head(info));
        } else if (closed || last) {
            exchange.respond(nothing(closed));
        } else {
            exchange.loop().execute(() -> wait.checked(List.of()));
        }
    }

    private Response head(DocumentInfo info) {
        Response head = ReadRequest.head(info).header(StreamHeaders.CURSOR, request.nextCursor());
        if (request.offset.isNow()) {
            // The same URL returns other values for the next request.
            return head.uncached();
        }
        String visibility = exchange.protocol.authenticator.required() ? "private" : "public";
        return head.header("ETag", ReadRequest.etag(info, request.next))
                .header("Cache-Control", visibility + ", max-age=60, stale-while-revalidate=300");
    }

    private Response nothing(boolean closed) {
        return new Response(204)
                .uncached()
                .header(StreamHeaders.NEXT_OFFSET, Offset.of(request.next))
                .header(StreamHeaders.CURSOR, request.nextCursor())
                .flag(StreamHeaders.UP_TO_DATE, true)
                .flag(StreamHeaders.CLOSED, closed);
    }
}
