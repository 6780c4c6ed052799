package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Request;
import io.caravan.server.protocol.http.codec.RequestBody;
import io.caravan.server.protocol.http.codec.RequestTarget;
import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import org.jspecify.annotations.Nullable;

/** A request whose head has arrived and whose body is arriving. */
final class IncomingRequest {
    private final HttpRequest head;
    private final RequestTarget target;
    private final Route route;
    private final Principal principal;
    private final HttpConfig config;
    private final RequestBody body;
    private final boolean expectsContinue;
    private long bytes;

    /**
     * Begins a request that its client may make.
     *
     * @throws Problem when its body is too long, or its expectation is not supported
     */
    IncomingRequest(HttpRequest head, RequestTarget target, Route route, Principal principal, HttpConfig config) {
        this.head = head;
        this.target = target;
        this.route = route;
        this.principal = principal;
        this.config = config;
        this.body = new RequestBody(config.maxBodyBytes(), route.takesBody());
        this.expectsContinue = expectation(head.headers().get(HttpHeaderNames.EXPECT));
        if (HttpUtil.getContentLength(head, 0L) > config.maxBodyBytes()) {
            throw tooLong();
        }
    }

    static boolean hasBody(HttpRequest head) {
        return HttpUtil.isTransferEncodingChunked(head) || HttpUtil.getContentLength(head, 0L) > 0;
    }

    private static boolean expectation(@Nullable String expected) {
        if (expected != null && !HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)) {
            throw new Problem(
                    HttpResponseStatus.EXPECTATION_FAILED,
                    "unknown_expectation",
                    "the server supports no expectation but 100-continue");
        }
        return expected != null;
    }

    private Problem tooLong() {
        return new Problem(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                "body_too_large",
                "a body may have at most " + config.maxBodyBytes() + " bytes, see --max-value");
    }

    /** Whether the client waits for a response before it sends the body. */
    boolean expectsContinue() {
        return expectsContinue;
    }

    Route route() {
        return route;
    }

    Principal principal() {
        return principal;
    }

    /** Number of the body's bytes that have arrived. */
    long bytes() {
        return bytes;
    }

    /**
     * Adds the next part of the body.
     *
     * @throws Problem when that makes it too long
     */
    void add(ByteBuf part) {
        bytes += part.readableBytes();
        if (!body.add(part)) {
            throw tooLong();
        }
    }

    /** The complete request; the last call. */
    Request complete() {
        return new Request(head.method(), target.path(), target.query(), head.headers(), body.take());
    }
}
