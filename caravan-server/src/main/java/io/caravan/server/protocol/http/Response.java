package io.caravan.server.protocol.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Instant;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An HTTP response, or the head of a streamed response. Mutable until the response is sent; not thread-safe. */
public final class Response {
    public static final String JSON = "application/json";

    private static final ObjectMapper MAPPER = new ObjectMapper().disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);

    private static final long MILLIS_PER_SECOND = 1_000;

    /**
     * The {@code Date} header for one second, cached because formatting the date takes longer than writing the rest of
     * a small response.
     */
    private record FormattedDate(long second, String text) {
        static FormattedDate of(long second) {
            return new FormattedDate(second, DateFormatter.format(new Date(second * MILLIS_PER_SECOND)));
        }
    }

    private static volatile FormattedDate lastDate = FormattedDate.of(0);

    private final int status;
    private final HttpHeaders headers = new DefaultHttpHeaders();
    private byte[] body = {};

    public Response(int status) {
        this.status = status;
    }

    /** Returns an uncacheable response with a map, list, or record as JSON. */
    public static Response json(int status, Object value) {
        return new Response(status).uncached().body(JSON, jsonBytes(value));
    }

    /** Returns a map of alternating names and values, in this order. */
    public static Map<String, Object> fields(@Nullable Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) Objects.requireNonNull(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return fields;
    }

    /** Returns a map, list, or record as JSON. */
    public static byte[] jsonBytes(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("cannot be written as JSON: " + value, impossible);
        }
    }

    static String moment(long millis) {
        return Instant.ofEpochMilli(millis).toString();
    }

    /** Returns the {@code Date} header for a time in milliseconds since 1970. */
    static String date(long millis) {
        long second = Math.floorDiv(millis, MILLIS_PER_SECOND);
        FormattedDate date = lastDate;
        if (date.second() != second) {
            date = FormattedDate.of(second);
            lastDate = date;
        }
        return date.text();
    }

    public Response header(String name, String value) {
        headers.set(name, value);
        return this;
    }

    /** Sets a header to {@code true} if {@code set} is true; otherwise does nothing. */
    public Response flag(String name, boolean set) {
        return set ? header(name, "true") : this;
    }

    public Response uncached() {
        return header("Cache-Control", "no-store");
    }

    public Response body(String contentType, byte[] bytes) {
        body = bytes;
        return header("Content-Type", contentType);
    }

    public int status() {
        return status;
    }

    HttpHeaders headers() {
        return headers;
    }

    public byte[] body() {
        return body;
    }
}
