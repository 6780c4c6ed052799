package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Request;
import io.caravan.server.protocol.http.codec.RequestDecoder;
import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A request whose head has arrived and whose body is arriving. Takes about as much memory as the parts that have
 * arrived.
 */
public final class IncomingRequest {
    private final Request head;
    private final Route route;
    private final Principal principal;
    private final int maxBodyBytes;
    private final boolean expectsContinue;
    private final long headBytes;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private int bytes;

    /**
     * Creates a request with an empty body. Throws {@link Problem} if the announced body is too long, or the {@code
     * Expect} header is not supported.
     */
    public IncomingRequest(HttpRequest received, Request head, Route route, Principal principal, HttpConfig config) {
        this.head = head;
        this.route = route;
        this.principal = principal;
        this.maxBodyBytes = route.maxBodyBytes(config.maxBodyBytes());
        // HTTP/1.0 has no interim responses.
        this.expectsContinue = expectation(head.header(HttpHeaderNames.EXPECT.toString()))
                && received.protocolVersion().isKeepAliveDefault();
        this.headBytes = RequestDecoder.headBytes(received);
        checkLength(HttpUtil.getContentLength(received, 0L));
    }

    private static boolean expectation(@Nullable String expected) {
        if (expected != null && !HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)) {
            throw new Problem(417, "unknown_expectation", "the server supports no expectation but 100-continue");
        }
        return expected != null;
    }

    private void checkLength(long length) {
        if (length > maxBodyBytes) {
            throw new Problem(
                    413, "body_too_large", "a body may have at most " + maxBodyBytes + " bytes, see --max-value");
        }
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

    /** Returns the memory that the head and body take now. The body counts twice, because its buffer may grow. */
    long heldBytes() {
        return headBytes + bytes + body.size();
    }

    /**
     * Adds the next part of the body. Returns the memory that the part takes in addition to its received bytes. Throws
     * {@link Problem} if the body becomes too long.
     */
    public int add(ByteBuf part) {
        checkLength((long) bytes + part.readableBytes());
        bytes += part.readableBytes();
        if (!route.takesBody()) {
            return 0;
        }
        body.writeBytes(ByteBufUtil.getBytes(part));
        return part.readableBytes();
    }

    public Request complete() {
        return head.withBody(body.toByteArray());
    }
}
