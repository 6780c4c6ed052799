package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Response;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;

/** Creates the heads of responses about a stream. */
final class StreamResponses {
    private static final int FRACTION_DIGITS = 3;
    private static final DateTimeFormatter RFC3339 =
            new DateTimeFormatterBuilder().appendInstant(FRACTION_DIGITS).toFormatter(Locale.ROOT);

    private StreamResponses() {}

    /** Returns the head of the uncacheable response to a write. */
    static Response written(int status, DocumentInfo info) {
        return of(status, info).uncached();
    }

    /** Adds a header with the durability of a write to these streams, if it differs from the server's durability. */
    static Response withDurability(DocumentService documents, Collection<DocumentName> names, Response response) {
        Spaces spaces = documents.spaces();
        DocumentDurability strongest = spaces.server();
        if (!spaces.isEmpty()) {
            strongest = names.stream()
                    .map(spaces::durability)
                    .max(Comparator.naturalOrder())
                    .orElse(strongest);
        }
        return strongest == spaces.server() ? response : response.header(StreamHeaders.DURABILITY, strongest.word());
    }

    private static Response of(int status, DocumentInfo info) {
        return new Response(status)
                .header(StreamHeaders.NEXT_OFFSET, Offset.of(info.nextSequence()))
                .flag(StreamHeaders.CLOSED, info.attributes().closed());
    }

    /** Returns the response to {@code HEAD}, with all metadata of the stream. */
    static Response metadata(DocumentInfo info) {
        DocumentAttributes attributes = info.attributes();
        Response response = written(200, info)
                .header("Content-Type", attributes.contentType())
                .header("ETag", etag(info, info.firstSequence()))
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()));
        attributes.ttlSeconds().ifPresent(seconds -> response.header(StreamHeaders.TTL, Long.toString(seconds)));
        attributes.expiresAtMillis().ifPresent(millis -> response.header(StreamHeaders.EXPIRES_AT, rfc3339(millis)));
        return response;
    }

    /** Returns the head of the response to a read up to the end of the stream. */
    static Response read(DocumentInfo info) {
        return of(200, info)
                .header("Content-Type", info.attributes().contentType())
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()))
                .flag(StreamHeaders.UP_TO_DATE, true);
    }

    /** Returns the head of a response with server-sent events. The head asks proxies not to buffer the events. */
    static Response events() {
        return new Response(200)
                .header("Content-Type", "text/event-stream")
                .header("Cache-Control", "no-cache")
                .header("X-Accel-Buffering", "no");
    }

    static String rfc3339(long millis) {
        return RFC3339.format(Instant.ofEpochMilli(millis));
    }

    /**
     * Returns a tag that identifies the values from {@code from} to the end. The id in the tag changes if the document
     * is created again.
     */
    static String etag(DocumentInfo info, long from) {
        String tag = info.id() + ":" + from + ":" + info.nextSequence();
        return '"' + tag + (info.attributes().closed() ? ":c\"" : "\"");
    }
}
