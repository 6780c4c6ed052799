package io.caravan.server.http;

import org.jspecify.annotations.Nullable;

/** {@code GET} of a stream: its values from an offset on, those that are there or those that come. */
final class StreamRead implements Endpoint {
    private final ReadParts parts;
    private final CatchUp catchUp;

    StreamRead(ReadParts parts) {
        this.parts = parts;
        this.catchUp = new CatchUp(parts);
    }

    @Override
    public void handle(Exchange exchange) {
        Query query = exchange.request().query();
        String offset = query.get("offset");
        String live = query.get("live");
        ReadRequest request = new ReadRequest(
                StreamName.of(exchange.route().rest(exchange.request().path())),
                Position.parse(offset, "offset"),
                query.get("cursor"),
                exchange.request().header("If-None-Match"));
        if (live == null) {
            catchUp.start(exchange, request);
        } else if (live.equals("long-poll")) {
            needOffset(offset);
            exchange.operation("longPoll");
            new LongPoll(exchange, parts, request).start();
        } else if (live.equals("sse")) {
            needOffset(offset);
            exchange.operation("eventStream");
            new EventStream(exchange, parts, request).start();
        } else {
            throw ProblemException.badRequest("unknown_live", "live is long-poll or sse, or not given");
        }
    }

    private static void needOffset(@Nullable String offset) {
        if (offset == null) {
            throw ProblemException.badRequest(
                    "offset_missing", "a live read needs an offset: one that a response told, or -1, or now");
        }
    }
}
