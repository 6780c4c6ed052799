package io.caravan.server.protocol.http.codec;

import io.caravan.server.document.Producer;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the figures in a request's headers. */
public final class RequestHeaders {
    private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,15}");
    /** What JavaScript can count to. */
    private static final long MAX_NUMBER = (1L << 53) - 1;

    private static final Pattern MEDIA_TYPE =
            Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(;[\\x20-\\x7E\t]*)?");
    private static final int MAX_CONTENT_TYPE = 256;

    private RequestHeaders() {}

    /**
     * A number of zero or more, if it is given.
     *
     * @throws ProblemException when it is given and none
     */
    public static OptionalLong number(Request request, String header) {
        String value = request.header(header);
        if (value == null) {
            return OptionalLong.empty();
        }
        if (!NUMBER.matcher(value).matches() || Long.parseLong(value) > MAX_NUMBER) {
            throw ProblemException.badRequest(
                    "invalid_header", header + " must be a number from 0 to 2^53-1, in digits, without leading zeros");
        }
        return OptionalLong.of(Long.parseLong(value));
    }

    /**
     * A moment in milliseconds since 1970, if it is given.
     *
     * @throws ProblemException when it is given and none
     */
    public static OptionalLong moment(Request request, String header) {
        String value = request.header(header);
        if (value == null) {
            return OptionalLong.empty();
        }
        try {
            Instant moment = OffsetDateTime.parse(value).toInstant();
            return OptionalLong.of(moment.toEpochMilli());
        } catch (DateTimeException | ArithmeticException malformed) {
            throw ProblemException.badRequest(
                    "invalid_header", header + " must be a time such as 2026-11-21T15:00:00Z (RFC 3339)");
        }
    }

    /**
     * The content type, or null when there is none.
     *
     * @throws ProblemException when there is more than one, or it is malformed
     */
    public static @Nullable String contentType(Request request) {
        List<String> values = request.headers().getAll(HttpHeaderNames.CONTENT_TYPE);
        if (values.isEmpty()) {
            return null;
        }
        String value = values.get(0);
        if (values.size() > 1
                || value.length() > MAX_CONTENT_TYPE
                || !MEDIA_TYPE.matcher(value).matches()) {
            throw ProblemException.badRequest(
                    "invalid_header",
                    "Content-Type must be one media type such as text/plain, of at most " + MAX_CONTENT_TYPE
                            + " characters");
        }
        return value;
    }

    /**
     * How the request's producer numbers it, or null when it has none.
     *
     * @throws ProblemException when some of the three headers are there and not all, or one is malformed
     */
    public static @Nullable Producer producer(Request request) {
        String id = request.header(StreamHeaders.PRODUCER_ID);
        OptionalLong epoch = number(request, StreamHeaders.PRODUCER_EPOCH);
        OptionalLong sequence = number(request, StreamHeaders.PRODUCER_SEQ);
        if (id == null && epoch.isEmpty() && sequence.isEmpty()) {
            return null;
        }
        if (id == null || epoch.isEmpty() || sequence.isEmpty()) {
            throw ProblemException.badRequest(
                    "invalid_header", "Producer-Id, Producer-Epoch and Producer-Seq go together, or not at all");
        }
        return new Producer(id, epoch.getAsLong(), sequence.getAsLong());
    }
}
