package io.caravan.server.protocol.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Spaces;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An HTTP response, or the head of a streamed response. Mutable until the response is sent; not thread-safe. */
final class Response {
    static final String JSON = "application/json";

    private static final ObjectMapper MAPPER = new ObjectMapper().disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);

    private static final long MILLIS_PER_SECOND = 1_000;
    private static final int FRACTION_DIGITS = 3;
    private static final DateTimeFormatter RFC3339 =
            new DateTimeFormatterBuilder().appendInstant(FRACTION_DIGITS).toFormatter(Locale.ROOT);

    /** The {@code Date} header for one second, cached because formatting it takes longer than a small response. */
    private record FormattedDate(long second, String text) {
        static FormattedDate of(long second) {
            return new FormattedDate(second, DateFormatter.format(new Date(second * MILLIS_PER_SECOND)));
        }
    }

    private static final byte[] NO_BODY = {};
    private static volatile FormattedDate lastDate = FormattedDate.of(0);

    final int status;
    final HttpHeaders headers;
    byte[] body = NO_BODY;

    Response(int status) {
        this(status, new DefaultHttpHeaders());
    }

    Response(int status, HttpHeaders headers) {
        this.status = status;
        this.headers = headers;
    }

    /** Creates a response that contains the end of a stream. */
    static Response of(int status, DocumentInfo info) {
        return new Response(status)
                .header(StreamHeaders.NEXT_OFFSET, Offset.of(info.nextSequence()))
                .flag(StreamHeaders.CLOSED, info.attributes().closed());
    }

    /** Adds a header with the durability of a write to these streams, if it differs from the server's durability. */
    Response withDurability(DocumentService documents, Collection<DocumentName> names) {
        Spaces spaces = documents.spaces();
        if (spaces.isEmpty()) {
            return this;
        }
        DocumentDurability strongest = names.stream()
                .map(spaces::durability)
                .max(Comparator.naturalOrder())
                .orElse(spaces.server());
        return strongest == spaces.server() ? this : header(StreamHeaders.DURABILITY, strongest.word());
    }

    /** Returns an uncacheable response with a map, list, or record as JSON. */
    static Response json(int status, Object value) {
        return new Response(status).uncached().body(JSON, jsonBytes(value));
    }

    /** Returns a map of alternating names and values, in this order. */
    static Map<String, Object> fields(@Nullable Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) Objects.requireNonNull(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return fields;
    }

    /** Returns a map as {@link #fields} does, without the names whose value is null. */
    static Map<String, Object> present(@Nullable Object... namesAndValues) {
        Map<String, Object> fields = fields(namesAndValues);
        fields.values().removeIf(Objects::isNull);
        return fields;
    }

    static byte[] jsonBytes(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("cannot be written as JSON: " + value, impossible);
        }
    }

    static String rfc3339(long millis) {
        return RFC3339.format(Instant.ofEpochMilli(millis));
    }

    static String date(long millis) {
        long second = Math.floorDiv(millis, MILLIS_PER_SECOND);
        FormattedDate date = lastDate;
        if (date.second() != second) {
            date = FormattedDate.of(second);
            lastDate = date;
        }
        return date.text();
    }

    Response header(CharSequence name, CharSequence value) {
        headers.set(name, value);
        return this;
    }

    Response flag(CharSequence name, boolean set) {
        return set ? header(name, "true") : this;
    }

    Response uncached() {
        return header(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    }

    Response body(String contentType, byte[] bytes) {
        body = bytes;
        return header(HttpHeaderNames.CONTENT_TYPE, contentType);
    }
}
