package io.caravan.server.protocol.http.read;

import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The heads of responses that tell of a stream. */
public final class StreamAnswers {
    private static final int FRACTION_DIGITS = 3;
    private static final DateTimeFormatter RFC3339 =
            new DateTimeFormatterBuilder().appendInstant(FRACTION_DIGITS).toFormatter(Locale.ROOT);

    private StreamAnswers() {}

    /** Of a stream that was written, or is asked about. */
    public static Answer of(HttpResponseStatus status, DocumentInfo info) {
        return Answer.of(status)
                .header(StreamHeaders.NEXT_OFFSET, Offset.of(info.nextSequence()))
                .flag(StreamHeaders.CLOSED, info.attributes().closed());
    }

    /** Of a stream that is asked about: all there is to know. */
    public static Answer metadata(DocumentInfo info) {
        DocumentAttributes attributes = info.attributes();
        Answer answer = of(HttpResponseStatus.OK, info)
                .header("Content-Type", attributes.contentType())
                .header("Cache-Control", "no-store")
                .header("ETag", etag(info, info.firstSequence()))
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()));
        attributes.ttlSeconds().ifPresent(seconds -> answer.header(StreamHeaders.TTL, Long.toString(seconds)));
        attributes.expiresAtMillis().ifPresent(millis -> answer.header(StreamHeaders.EXPIRES_AT, rfc3339(millis)));
        return answer;
    }

    /** Of a read that goes to the tail. */
    static Answer read(DocumentInfo info) {
        return of(HttpResponseStatus.OK, info)
                .header("Content-Type", info.attributes().contentType())
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()))
                .flag(StreamHeaders.UP_TO_DATE, true);
    }

    public static String rfc3339(long millis) {
        return RFC3339.format(Instant.ofEpochMilli(millis));
    }

    /** Names what a read from {@code from} to the tail gives. A document made anew has another id. */
    static String etag(DocumentInfo info, long from) {
        return '"'
                + Long.toString(info.id())
                + ':'
                + from
                + ':'
                + info.nextSequence()
                + (info.attributes().closed() ? ":c\"" : "\"");
    }

    /** Whether a client says that it has what the tag names. */
    static boolean matches(@Nullable String ifNoneMatch, String etag) {
        return ifNoneMatch != null
                && Arrays.stream(ifNoneMatch.split(",", -1))
                        .map(String::strip)
                        .anyMatch(tag -> tag.equals(etag) || tag.equals("W/" + etag) || tag.equals("*"));
    }
}
