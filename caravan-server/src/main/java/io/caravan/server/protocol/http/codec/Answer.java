package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;

/** A response, or the head of one that is streamed. Mutable until it is given; not for several threads. */
public final class Answer {
    private static final byte[] NOTHING = {};

    private final HttpResponseStatus status;
    private final HttpHeaders headers = new DefaultHttpHeaders();
    private byte[] body = NOTHING;

    private Answer(HttpResponseStatus status) {
        this.status = status;
    }

    public static Answer of(HttpResponseStatus status) {
        return new Answer(status);
    }

    /** A response of what the server tells of itself; never cached. */
    public static Answer json(HttpResponseStatus status, Object value) {
        return of(status).header("Cache-Control", "no-store").body(Json.CONTENT_TYPE, Json.bytes(value));
    }

    /** Sets a header. */
    public Answer header(String name, String value) {
        headers.set(name, value);
        return this;
    }

    /** Sets a header whose value is {@code true}, or leaves it away. */
    public Answer flag(String name, boolean set) {
        return set ? header(name, "true") : this;
    }

    public Answer body(String contentType, byte[] bytes) {
        body = bytes;
        return header("Content-Type", contentType);
    }

    public HttpResponseStatus status() {
        return status;
    }

    HttpHeaders headers() {
        return headers;
    }

    public byte[] body() {
        return body;
    }
}
