package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Spaces;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Creates the heads of responses about a stream. */
final class StreamResponses {
    private static final int FRACTION_DIGITS = 3;
    private static final DateTimeFormatter RFC3339 =
            new DateTimeFormatterBuilder().appendInstant(FRACTION_DIGITS).toFormatter(Locale.ROOT);

    private static final long CURSOR_EPOCH_SECONDS =
            Instant.parse("2024-10-09T00:00:00Z").getEpochSecond();
    private static final long CURSOR_SECONDS = 20;
    private static final long MAX_JITTER_SECONDS = 3600;
    /** The format of a cursor. Longer cursors are ignored, to prevent an overflow. */
    private static final Pattern CURSOR = Pattern.compile("[0-9]{1,15}");

    private StreamResponses() {}

    /**
     * Returns the cursor of a live response, which prevents caches from serving the same response forever. A cursor is
     * the number of the current interval of {@value #CURSOR_SECONDS} seconds, but always greater than the cursor that
     * the client sent. {@code given} is the client's cursor, or null; invalid text is ignored.
     */
    static String cursor(@Nullable String given) {
        long current = Math.floorDiv(Instant.now().getEpochSecond() - CURSOR_EPOCH_SECONDS, CURSOR_SECONDS);
        long last = given != null && CURSOR.matcher(given).matches() ? Long.parseLong(given) : -1;
        if (last < current) {
            return Long.toString(current);
        }
        long jitterSeconds = 1 + ThreadLocalRandom.current().nextLong(MAX_JITTER_SECONDS);
        return Long.toString(last + (jitterSeconds + CURSOR_SECONDS - 1) / CURSOR_SECONDS);
    }

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
