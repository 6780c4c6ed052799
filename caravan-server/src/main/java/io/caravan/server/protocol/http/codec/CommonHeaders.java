package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;

/** The headers of every response: which pages may read it, and that browsers must not guess its type. */
public final class CommonHeaders {
    private static final String ALLOWED_METHODS = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
    private static final String ALLOWED_HEADERS = String.join(
            ", ",
            "Authorization",
            "Content-Type",
            "If-None-Match",
            StreamHeaders.SEQ,
            StreamHeaders.TTL,
            StreamHeaders.EXPIRES_AT,
            StreamHeaders.CLOSED,
            StreamHeaders.FORKED_FROM,
            StreamHeaders.FORK_OFFSET,
            StreamHeaders.FORK_SUB_OFFSET,
            StreamHeaders.PRODUCER_ID,
            StreamHeaders.PRODUCER_EPOCH,
            StreamHeaders.PRODUCER_SEQ);
    private static final String EXPOSED_HEADERS = String.join(
            ", ",
            "ETag",
            "Location",
            "WWW-Authenticate",
            StreamHeaders.NEXT_OFFSET,
            StreamHeaders.FIRST_OFFSET,
            StreamHeaders.UP_TO_DATE,
            StreamHeaders.CLOSED,
            StreamHeaders.CURSOR,
            StreamHeaders.TTL,
            StreamHeaders.EXPIRES_AT,
            StreamHeaders.SSE_DATA_ENCODING,
            StreamHeaders.PRODUCER_EPOCH,
            StreamHeaders.PRODUCER_SEQ,
            StreamHeaders.PRODUCER_EXPECTED_SEQ,
            StreamHeaders.PRODUCER_RECEIVED_SEQ);
    private static final String PREFLIGHT_SECONDS = "86400";

    private CommonHeaders() {}

    /** Adds them to the response to a request. */
    static void addTo(HttpHeaders headers, Origins origins, HttpHeaders request) {
        String reader = origins.reader(request);
        if (reader != null) {
            headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, reader);
            headers.set(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
        if (!origins.any()) {
            headers.add(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
        }
        // Other pages of this machine are the same site, whatever their port.
        headers.set("Cross-Origin-Resource-Policy", origins.any() ? "cross-origin" : "same-site");
        headers.set("X-Content-Type-Options", "nosniff");
    }

    /** The answer to a browser that checks what a page of another origin may send. */
    public static Answer preflight() {
        return Answer.of(HttpResponseStatus.NO_CONTENT)
                .header("Access-Control-Allow-Methods", ALLOWED_METHODS)
                .header("Access-Control-Allow-Headers", ALLOWED_HEADERS)
                .header("Access-Control-Max-Age", PREFLIGHT_SECONDS);
    }
}
