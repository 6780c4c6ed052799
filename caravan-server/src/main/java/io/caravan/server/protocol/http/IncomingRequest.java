package io.caravan.server.protocol.http;

import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import java.util.Arrays;
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
    /** The body in its first {@link #bytes} bytes, unless the route uses none. */
    private byte[] body = {};

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

    /** Returns the memory that the head and body take now. The body counts twice, because its array may grow. */
    long heldBytes() {
        return headBytes + bytes + (route.takesBody() ? bytes : 0);
    }

    /**
     * Adds the next part of the body. Returns the memory that the part takes in addition to its received bytes. Throws
     * {@link Problem} if the body becomes too long.
     */
    public int add(ByteBuf part) {
        int added = part.readableBytes();
        checkLength((long) bytes + added);
        int from = bytes;
        bytes += added;
        if (!route.takesBody()) {
            return 0;
        }
        if (bytes > body.length) {
            // A body that arrives in one part is copied once.
            body = Arrays.copyOf(body, (int) Math.max(bytes, Math.min(2L * from, maxBodyBytes)));
        }
        part.getBytes(part.readerIndex(), body, from, added);
        return added;
    }

    public Request complete() {
        boolean exact = !route.takesBody() || body.length == bytes;
        return head.withBody(exact ? body : Arrays.copyOf(body, bytes));
    }
}
