package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Permission;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The endpoints that read one stream, tail one or several streams, or describe a stream. */
final class StreamReads {
    static final String READ = "readStream";

    static final String FOLLOW = "followStreams";

    private static final String LIVE = "live";
    /** Lets caches keep a response, but revalidate it, which is cheap if there are no new values. */
    private static final String NO_CACHE = "no-cache";

    /** Approximate memory that a tailed stream takes in addition to its name. */
    private static final int TAILED_BYTES = 512;

    private StreamReads() {}

    /** Whether a request waits for new values. Throws {@link Problem} if its query is malformed. */
    static boolean isLive(Route route, Request request) {
        return route.operation().equals(FOLLOW) || route.operation().equals(READ) && request.parameter(LIVE) != null;
    }

    static void read(HttpExchange exchange) {
        ReadRequest request = new ReadRequest(exchange);
        Request asked = exchange.request;
        String live = asked.parameter(LIVE);
        if (live == null) {
            exchange.read(() -> catchUp(request));
            return;
        }
        boolean longPoll = live.equals("long-poll");
        Problem.require(longPoll || live.equals("sse"), "unknown_live", "live is long-poll or sse, or absent");
        Problem.require(
                asked.parameter("offset") != null,
                "offset_missing",
                "a live read needs an offset: one from a response, or -1, or now");
        exchange.operation = longPoll ? "longPoll" : "eventStream";
        LiveRead read = longPoll ? new LongPoll(request) : new EventStream(request);
        HttpConfig config = exchange.protocol.config;
        read.start(longPoll ? config.longPoll() : config.eventStream());
    }

    static void follow(HttpExchange exchange) {
        // A long body takes time to parse.
        exchange.read(() -> {
            Map<DocumentName, Offset> starts = LiveStreams.parse(exchange.request.body, exchange.protocol.json);
            starts.keySet().forEach(name -> exchange.require(Permission.READ, name));
            exchange.documents().requireHere(starts.keySet());
            take(exchange, starts.keySet());
            LiveStreams streams = new LiveStreams(exchange, starts);
            exchange.loop().execute(streams::start);
        });
    }

    /** Reserves memory for the streams until the exchange ends, and releases the body. */
    private static void take(HttpExchange exchange, Set<DocumentName> names) {
        long taken = names.stream()
                .mapToLong(name -> TAILED_BYTES + name.toBytes().length)
                .sum();
        ConnectionMemory memory = exchange.memory;
        if (!memory.reserveWait(taken)) {
            throw Problem.unavailable(
                            "too_many_streams",
                            "the memory for tailed streams is used up, by this connection or by all connections;"
                                    + " tail fewer streams")
                    .retrySoon();
        }
        exchange.onLoop(() -> {
            exchange.atEnd(() -> memory.releaseWait(taken));
            exchange.releaseBody();
        });
    }

    private static void catchUp(ReadRequest request) {
        DocumentInfo info = request.get();
        String etag = ReadRequest.etag(info, request.next);
        if (!request.offset.isNow() && request.exchange.request.hasTag(etag)) {
            request.exchange.respond(
                    new Response(304).header("Cache-Control", NO_CACHE).header("ETag", etag));
        } else {
            request.send(info, request.head(info, NO_CACHE));
        }
    }

    /** A read that waits a limited time for a new value. Only one check uses the request at a time. */
    private static final class LongPoll extends LiveRead {
        private final ReadRequest request;

        LongPoll(ReadRequest request) {
            super(request.exchange, 1);
            this.request = request;
            streams.put(request.name, request);
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
                String visibility = exchange.protocol.authenticated ? "private" : "public";
                Response head = request.head(info, visibility + ", max-age=60, stale-while-revalidate=300");
                request.send(info, head.header(StreamHeaders.CURSOR, request.nextCursor()));
            } else if (closed || last) {
                exchange.respond(new Response(204)
                        .uncached()
                        .header(StreamHeaders.NEXT_OFFSET, Offset.of(request.next))
                        .header(StreamHeaders.CURSOR, request.nextCursor())
                        .flag(StreamHeaders.UP_TO_DATE, true)
                        .flag(StreamHeaders.CLOSED, closed));
            } else {
                exchange.loop().execute(() -> wait.checked(List.of()));
            }
        }
    }

    /** Returns the attributes and the offsets of a stream. Does not extend a sliding expiry. */
    static Response describe(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        DocumentService documents = exchange.documents();
        DocumentInfo info = StreamPosition.find(documents, name);
        DocumentAttributes attributes = info.attributes();
        Response response = Response.of(200, info)
                .uncached()
                .header("Content-Type", attributes.contentType())
                .header("ETag", ReadRequest.etag(info, info.firstSequence()))
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()));
        attributes.ttlSeconds().ifPresent(seconds -> response.header(StreamHeaders.TTL, Long.toString(seconds)));
        attributes
                .expiresAtMillis()
                .ifPresent(millis -> response.header(StreamHeaders.EXPIRES_AT, Response.rfc3339(millis)));
        return response.withDurability(documents, Set.of(name));
    }
}
