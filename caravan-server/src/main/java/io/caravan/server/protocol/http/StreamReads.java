package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.security.Permission;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The endpoints that read one stream, tail one or several streams, or describe a stream. */
final class StreamReads {
    public static final String READ = "readStream";

    public static final String FOLLOW = "followStreams";

    private static final String LIVE = "live";
    /** Approximate memory that a tailed stream takes in addition to its name. */
    private static final int TAILED_BYTES = 512;

    private StreamReads() {}

    /** Whether a request waits for new values. Throws {@link Problem} if its query is malformed. */
    static boolean isLive(Route route, Request request) {
        return route.operation().equals(FOLLOW) || route.operation().equals(READ) && request.query.get(LIVE) != null;
    }

    static void read(HttpExchange exchange) {
        ReadRequest request = new ReadRequest(exchange);
        Query query = exchange.request.query;
        String live = query.get(LIVE);
        if (live == null) {
            exchange.read(() -> catchUp(request));
            return;
        }
        boolean longPoll = live.equals("long-poll");
        Problem.require(longPoll || live.equals("sse"), "unknown_live", "live is long-poll or sse, or absent");
        Problem.require(
                query.get("offset") != null,
                "offset_missing",
                "a live read needs an offset: one from a response, or -1, or now");
        exchange.operation = longPoll ? "longPoll" : "eventStream";
        LiveRead read = longPoll ? new LongPoll(request) : new EventStream(request);
        HttpConfig config = exchange.protocol.config;
        read.start(List.of(request.name), longPoll ? config.longPoll() : config.eventStream());
    }

    /** Sends the values of the streams that the body names. */
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
                    .with("Retry-After", "1");
        }
        exchange.onLoop(() -> {
            exchange.atEnd(() -> memory.releaseWait(taken));
            exchange.releaseBody();
        });
    }

    /** Sends the values that the stream currently contains. */
    private static void catchUp(ReadRequest request) {
        DocumentInfo info = request.get();
        Response head = ReadRequest.head(info);
        if (request.offset.isNow()) {
            head.uncached();
        } else {
            String etag = ReadRequest.etag(info, request.next);
            // New values change the response, so caches must revalidate it, which is cheap if nothing has changed.
            head.header("Cache-Control", "no-cache").header("ETag", etag);
            if (request.exchange.request.hasTag(etag)) {
                request.exchange.respond(
                        new Response(304).header("Cache-Control", "no-cache").header("ETag", etag));
                return;
            }
        }
        request.send(info, head);
    }

    /** Returns the attributes and the offsets of a stream. Does not extend a sliding expiry. */
    static void describe(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        DocumentService documents = exchange.documents();
        exchange.respond(() -> metadata(StreamPosition.find(documents, name)).withDurability(documents, Set.of(name)));
    }

    private static Response metadata(DocumentInfo info) {
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
        return response;
    }
}
