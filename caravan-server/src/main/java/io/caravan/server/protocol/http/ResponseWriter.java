package io.caravan.server.protocol.http;

import io.caravan.server.net.ConnectionMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.EventExecutor;
import java.net.SocketAddress;
import java.util.Date;
import java.util.function.BooleanSupplier;

/**
 * Writes the response to one request, in the form that the version and method of the request require. Used only on the
 * event loop.
 */
public final class ResponseWriter {
    /**
     * The content security policy of every response except those with files of the console. Clients choose the content
     * types of documents. If a browser shows a document as a page, it must not run scripts of the document or treat the
     * document as a page of this server.
     */
    static final String POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

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

    private final Channel channel;
    private final ConnectionMemory memory;
    private final boolean bodiless;
    private final boolean oldVersion;
    private final HttpHeaders request;
    private final Origins origins;
    private final BooleanSupplier ending;
    private boolean keepAlive;

    /**
     * Creates a writer for the response to a request. If {@code ending} returns true when the response is written, the
     * connection closes after the response.
     */
    public ResponseWriter(
            Channel channel, ConnectionMemory memory, HttpRequest head, Origins origins, BooleanSupplier ending) {
        this.channel = channel;
        this.memory = memory;
        this.bodiless = head.method().equals(HttpMethod.HEAD);
        this.oldVersion = !head.protocolVersion().isKeepAliveDefault();
        this.keepAlive = HttpUtil.isKeepAlive(head);
        this.request = head.headers();
        this.origins = origins;
        this.ending = ending;
    }

    public EventExecutor loop() {
        return channel.eventLoop();
    }

    public SocketAddress peer() {
        return channel.remoteAddress();
    }

    public String scheme() {
        return channel.pipeline().get(SslHandler.class) == null ? "http" : "https";
    }

    public ConnectionMemory memory() {
        return memory;
    }

    public boolean writable() {
        return channel.isWritable();
    }

    /** Whether the connection stays open after this response. */
    public boolean keepAlive() {
        return keepAlive;
    }

    /** Requests that the connection be closed after this response. */
    public void close() {
        keepAlive = false;
    }

    /** Sends {@code 100 Continue}, so that the client sends the body of its request. */
    public void sendContinue() {
        channel.writeAndFlush(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }

    public void whole(Response response) {
        whole(response, Unpooled.wrappedBuffer(response.body()));
    }

    /** Writes a complete response, and releases its body. */
    public void whole(Response response, ByteBuf body) {
        int length = body.readableBytes();
        ByteBuf content = body;
        if (bodiless) {
            body.release();
            content = Unpooled.EMPTY_BUFFER;
        }
        HttpResponseStatus status = HttpResponseStatus.valueOf(response.status());
        DefaultFullHttpResponse encoded = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, status, content, response.headers(), EmptyHttpHeaders.INSTANCE);
        boolean mayHaveBody =
                !status.equals(HttpResponseStatus.NO_CONTENT) && !status.equals(HttpResponseStatus.NOT_MODIFIED);
        if (mayHaveBody && !(bodiless && length == 0)) {
            encoded.headers().set(HttpHeaderNames.CONTENT_LENGTH, length);
        }
        complete(encoded);
        channel.writeAndFlush(encoded);
    }

    /**
     * Writes the head of a streamed response. The body is chunked if {@code response} has no {@code Content-Length}.
     */
    public void head(Response response) {
        HttpResponse encoded = new DefaultHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(response.status()), response.headers());
        if (oldVersion) {
            close();
            resetWhenClosed(true);
        } else if (!encoded.headers().contains(HttpHeaderNames.CONTENT_LENGTH)) {
            encoded.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        complete(encoded);
        channel.write(encoded);
    }

    private void complete(HttpResponse response) {
        keepAlive &= !ending.getAsBoolean();
        HttpHeaders headers = response.headers();
        origins.addTo(headers, request);
        if (!headers.contains(HttpHeaderNames.DATE)) {
            headers.set(HttpHeaderNames.DATE, date(System.currentTimeMillis()));
        }
        if (headers.contains(HttpHeaderNames.CONTENT_TYPE)
                && !headers.contains(HttpHeaderNames.CONTENT_SECURITY_POLICY)) {
            headers.set(HttpHeaderNames.CONTENT_SECURITY_POLICY, POLICY);
        }
        if (!keepAlive) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (oldVersion) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
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

    public void piece(ByteBuf bytes) {
        channel.writeAndFlush(new DefaultHttpContent(bytes));
    }

    public void last() {
        if (oldVersion) {
            resetWhenClosed(false);
        }
        channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    /**
     * Sets whether the connection is closed with a reset, which the client treats as an error. In HTTP/1.0, the orderly
     * end of the connection marks the end of a body of unknown length, so an incomplete body must end with a reset.
     */
    private void resetWhenClosed(boolean reset) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, reset ? 0 : -1);
        }
    }

    /** Closes the connection, so that the client detects that the response is incomplete. */
    public void abort() {
        channel.close();
    }
}
