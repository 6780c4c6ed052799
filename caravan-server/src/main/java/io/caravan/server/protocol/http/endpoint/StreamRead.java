package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.codec.Position;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.protocol.http.codec.Query;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.CatchUp;
import io.caravan.server.protocol.http.read.EventStream;
import io.caravan.server.protocol.http.read.LongPoll;
import io.caravan.server.protocol.http.read.ReadParts;
import io.caravan.server.protocol.http.read.ReadRequest;
import org.jspecify.annotations.Nullable;

/** {@code GET} of a stream: its values from an offset on, those that are there or those that come. */
public final class StreamRead implements Endpoint {
    private final ReadParts parts;
    private final CatchUp catchUp;

    public StreamRead(ReadParts parts) {
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
