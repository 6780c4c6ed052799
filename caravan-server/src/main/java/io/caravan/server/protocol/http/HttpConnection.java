package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.util.ByteProcessor;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Handles the HTTP connection of one client, one request at a time. Bytes of later requests wait in the decoder. While
 * bytes wait, the socket is not read. While no bytes wait, or only a few do and the request waits for new values, the
 * socket is read even during a request, because only a read detects that the client has disconnected.
 */
final class HttpConnection extends Connection {
    private static final String SCHEME = "Bearer ";

    /** Maximum number of body parts before the other connections of the event loop get their turn. */
    private static final int TURN_PARTS = 1_000;

    /** The waiting bytes at which the socket is no longer read while a request waits for new values. */
    private static final int WAITING_BYTES = 64 * 1024;

    private static final HttpRequest NO_HEAD = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

    final HttpProtocol protocol;
    final long openedNanos = System.nanoTime();
    /** Precedes this handler in the pipeline. */
    final Decoder decoder = new Decoder(this::busy);
    /** The last valid token, so that later requests of a client need no cryptographic hash of it. */
    private byte[] lastToken = {};

    private @Nullable Principal lastTokenOwner;
    private @Nullable HttpExchange incoming;
    private @Nullable HttpExchange exchange;
    private int parts;
    /** The number of the current or next request, counted from 1. */
    private long request = 1;

    private boolean inputEnded;

    HttpConnection(Channel channel, HttpProtocol protocol, ConnectionMemory memory) {
        super(channel, memory);
        this.protocol = protocol;
        memory.onRoom(() -> {
            next();
            readMore();
        });
    }

    Channel channel() {
        return channel;
    }

    ConnectionMemory memory() {
        return memory;
    }

    /** Whether the bytes of later requests must wait. Bytes after the last request are discarded instead. */
    private boolean busy() {
        return (exchange != null || parts >= TURN_PARTS) && !closing;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof HttpRequest head && !closing) {
                begin(head);
            }
            if (message instanceof HttpContent content && incoming != null && !closing) {
                take(incoming, content);
                if (++parts == TURN_PARTS) {
                    channel.eventLoop().execute(this::nextTurn);
                }
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void nextTurn() {
        parts = 0;
        if (exchange == null && !closing) {
            resume();
        }
    }

    private void resume() {
        decoder.resume();
        readMore();
        if (inputEnded && exchange == null && decoder.holding == null) {
            end(false);
        }
    }

    /** Decides, after each read of the socket, whether to read more, even if no message was decoded. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        readMore();
    }

    void readMore() {
        if (exchange == null) {
            long arrived = incoming == null ? 0 : decoder.headBytes + incoming.request.bodyMemory();
            memory.settle(decoder.heldBytes() + arrived, true);
        }
        boolean wanted = decoder.holding == null
                || exchange != null && exchange.waitsForValues() && decoder.heldBytes() < WAITING_BYTES;
        channel.config().setAutoRead(!closing && wanted && memory.mayRead());
    }

    private void begin(HttpRequest head) {
        try {
            incoming = admit(head);
            memory.hold(decoder.headBytes);
            if (incoming.request.expectsContinue()) {
                incoming.sendContinue();
            }
        } catch (Problem rejected) {
            reject(head, rejected);
        }
    }

    /**
     * Finds the route of a request and checks that the client may use it. A rejected request without a body gets a
     * route that responds with the error, so that the connection remains usable. Throws {@link Problem} if the request
     * is rejected and the connection must end.
     */
    private HttpExchange admit(HttpRequest head) {
        Request request = Request.of(head);
        Route route = Routes.PREFLIGHT;
        Principal principal = Principal.ANYONE;
        try {
            protocol.origins.check(head.method(), head.headers());
            if (!head.method().equals(HttpMethod.OPTIONS)) {
                route = Routes.find(protocol.routes, head.method(), request.path);
                principal = authorize(route, request);
                request.checkContentEncoding();
                request.checkConditions(route.aboutDocument());
            }
        } catch (Problem rejected) {
            if (HttpUtil.isTransferEncodingChunked(head) || HttpUtil.getContentLength(head, 0L) > 0) {
                throw rejected;
            }
            route = Route.rejecting(head.method(), rejected);
            principal = Principal.ANYONE;
        }
        request.expectBody(protocol.maxBodyBytes, route.takesBody());
        return new HttpExchange(this, request, route, principal);
    }

    /**
     * Returns the principal of the client if the client may use the route. Routes that require no permission are open
     * to all clients, but may return more data to clients with a token. Throws {@link Problem} if the client has no
     * valid token or lacks the permission.
     */
    private Principal authorize(Route route, Request asked) {
        if (!protocol.authenticated) {
            return Principal.ANYONE;
        }
        Principal principal = principal(asked.headers.get(HttpHeaderNames.AUTHORIZATION));
        Permission permission = route.permission();
        if (permission == null) {
            return principal == null ? Principal.ANONYMOUS : principal;
        }
        if (principal == null) {
            throw Problem.unauthorized("send a valid token: Authorization: Bearer <token>");
        }
        if (route.aboutDocument()) {
            check(principal, permission, StreamName.of(route.rest(asked.path)));
        } else if (!principal.may(permission)) {
            throw Problem.forbidden(principal, permission, "");
        }
        return principal;
    }

    static void check(Principal principal, Permission permission, DocumentName name) {
        if (!principal.may(permission, name)) {
            throw Problem.forbidden(principal, permission, " on document '" + name + "'");
        }
    }

    private @Nullable Principal principal(@Nullable String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return null;
        }
        byte[] token = authorization.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
        // A proxy may send the requests of several clients over one connection, so the comparison takes constant time.
        if (lastTokenOwner != null && !lastTokenOwner.revoked() && MessageDigest.isEqual(token, lastToken)) {
            return lastTokenOwner;
        }
        Principal owner =
                protocol.authenticator.authenticate(channel.remoteAddress(), Authenticator.DEFAULT_USER, token);
        if (owner != null) {
            lastToken = token;
            lastTokenOwner = owner;
        }
        return owner;
    }

    /** Responds to a request that may not have arrived completely, and ends the connection. */
    private void reject(HttpRequest head, Problem problem) {
        Route route = Route.rejecting(head.method(), problem);
        reject(new HttpExchange(this, new Request(head, "/", ""), route, Principal.ANYONE), problem);
    }

    private void reject(HttpExchange rejected, Problem problem) {
        incoming = null;
        rejected.reject(problem);
        protocol.count("unread", HttpProtocol.outcome(problem.status()), 0);
        end(true);
    }

    private void take(HttpExchange arriving, HttpContent content) {
        try {
            if (content.decoderResult().isFailure()) {
                throw Request.malformed(content.decoderResult().cause());
            }
            memory.hold(arriving.request.add(content.content()));
        } catch (Problem rejected) {
            reject(arriving, rejected);
            return;
        }
        if (content instanceof LastHttpContent) {
            incoming = null;
            memory.requestArrived();
            exchange = arriving;
            request++;
            if (inputEnded) {
                arriving.drain();
            }
            arriving.begin();
        }
    }

    /** Releases the memory of the body of the current request, which is no longer needed. */
    void bodyReleased() {
        memory.settle(decoder.heldBytes(), false);
    }

    /** Ends the current request after its response has been written, and the connection unless {@code keepAlive}. */
    void ended(boolean keepAlive) {
        if (!keepAlive || protocol.draining) {
            exchange = null;
            end(false);
            return;
        }
        // A direct call would deepen the recursion with each pipelined request.
        channel.eventLoop().execute(this::next);
    }

    /** Starts the next request, if the current request is over and there is space for another response. */
    private void next() {
        if (exchange == null || !exchange.over || closing || !channel.isWritable() || !memory.mayReply(0)) {
            return;
        }
        exchange = null;
        // Otherwise, a client that always sends the next request early would be charged for all requests so far.
        bodyReleased();
        resume();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (exchange != null && !exchange.over) {
            exchange.continueIfWritable();
        } else {
            next();
        }
    }

    @Override
    public boolean idle() {
        return exchange == null && !unfinished();
    }

    @Override
    public long unfinishedRequest() {
        boolean owed = unfinished() || request == 1;
        return exchange == null && owed && !closing ? request : 0;
    }

    private boolean unfinished() {
        return incoming != null || decoder.begun;
    }

    @Override
    public void requestTimedOut() {
        if (unfinished()) {
            reject(NO_HEAD, new Problem(408, "request_timeout", "the rest of the request did not arrive in time"));
        } else {
            end(false);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (!(event instanceof ChannelInputShutdownEvent)) {
            return;
        }
        inputEnded = true;
        if (exchange != null) {
            exchange.drain();
        } else if (decoder.holding == null) {
            end(false);
        }
    }

    @Override
    public void end() {
        if (exchange != null && !exchange.over) {
            exchange.drain();
        } else if (incoming == null) {
            end(false);
        }
    }

    /** Closes the connection after all written data has been sent. Bytes of a request may still arrive if unread. */
    private void end(boolean unread) {
        if (!closing) {
            closeWhenSent(unread ? () -> LINGER : null);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closing = true;
        incoming = null;
        if (exchange != null) {
            exchange.gone();
        }
    }

    /** Encodes responses, except chunks, which {@link HttpExchange#endChunk} has encoded. */
    static final class Encoder extends HttpResponseEncoder {
        @Override
        public boolean acceptOutboundMessage(Object message) throws Exception {
            return !(message instanceof ByteBuf) && super.acceptOutboundMessage(message);
        }
    }

    /**
     * Decodes requests, and rejects ambiguous ones. Bytes that arrive while a request is being handled are held back:
     * they are counted but not decoded, because small requests, once decoded, would take many times the memory of their
     * bytes.
     */
    static final class Decoder extends HttpRequestDecoder {
        /** Enough for a query and a name of maximum length, even if every byte of the name is percent-encoded. */
        static final int MAX_LINE_BYTES = 8 * 1024;

        static final int MAX_HEADER_BYTES = 16 * 1024;
        private static final int MAX_PART_BYTES = 64 * 1024;
        /** Maximum number of headers; limited because a header takes many times as much memory as its bytes. */
        private static final int MAX_HEADERS = 128;

        private static final int HEADER_OVERHEAD_BYTES = 128;

        private final BooleanSupplier busy;
        /** The number of headers in the head or trailer that is arriving. */
        private final int[] headers;
        /** The context of the decoder while bytes are held back; null otherwise. */
        private @Nullable ChannelHandlerContext holding;
        /** Whether part of a head, or of a chunk of a body, has arrived. */
        private boolean begun;
        /** Whether the last request has been decoded completely. */
        private boolean whole;
        /** The number of decoded bytes of an incomplete head or chunk. */
        private long begunBytes;
        /** The approximate memory that the last complete head takes. */
        private long headBytes;

        /** Creates a decoder. Bytes that arrive while {@code busy} returns true are held back until {@link #resume}. */
        Decoder(BooleanSupplier busy) {
            this(busy, new int[1]);
        }

        private Decoder(BooleanSupplier busy, int[] headers) {
            super(new HttpDecoderConfig()
                    .setMaxInitialLineLength(MAX_LINE_BYTES)
                    .setMaxHeaderSize(MAX_HEADER_BYTES)
                    .setMaxChunkSize(MAX_PART_BYTES)
                    .setHeadersFactory(limited(DefaultHttpHeadersFactory.headersFactory(), headers))
                    .setTrailersFactory(limited(DefaultHttpHeadersFactory.trailersFactory(), headers))
                    .setAllowDuplicateContentLengths(false)
                    .setStrictLineParsing(true)
                    .setUseRfc9112TransferEncoding(true));
            this.busy = busy;
            this.headers = headers;
        }

        /** Limits the number of headers. A header over the limit is rejected before it takes memory. */
        private static HttpHeadersFactory limited(DefaultHttpHeadersFactory usual, int[] count) {
            return usual.withNameValidator(name -> {
                if (++count[0] > MAX_HEADERS) {
                    throw new TooLongHttpHeaderException("more than " + MAX_HEADERS + " headers");
                }
                usual.getNameValidator().validateName(name);
            });
        }

        /** Returns the approximate memory that the held-back bytes and an incomplete head take. */
        private long heldBytes() {
            return actualReadableBytes() + (begun ? begunMemory() : 0);
        }

        private long begunMemory() {
            return begunBytes + (long) headers[0] * HEADER_OVERHEAD_BYTES;
        }

        /** Decodes the held-back bytes, up to the end of the next request. */
        private void resume() {
            ChannelHandlerContext context = holding;
            if (context == null) {
                return;
            }
            holding = null;
            try {
                channelRead(context, Unpooled.EMPTY_BUFFER);
            } catch (Exception | Error broken) {
                // A Netty pipeline handles an exception from a handler in the same way.
                context.fireExceptionCaught(broken);
            }
        }

        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
            if (busy.getAsBoolean()) {
                if (whole && skipLineEnds(in)) {
                    return;
                }
                holding = context;
                // Without this call, Netty would read the socket several more times.
                context.channel().config().setAutoRead(false);
                return;
            }
            int decoded = out.size();
            int readable = in.readableBytes();
            super.decode(context, in, out);
            begunBytes += readable - in.readableBytes();
            begun = out.size() == decoded;
            if (!begun) {
                whole = out.get(out.size() - 1) instanceof LastHttpContent;
                if (out.get(decoded) instanceof HttpRequest) {
                    headBytes = begunMemory();
                }
                headers[0] = 0;
                begunBytes = 0;
            }
        }

        /**
         * Skips line ends between requests, which have no meaning. Returns false if other bytes follow. If line ends
         * were held back, the server would not read the socket, and might not detect that the client has disconnected.
         */
        private static boolean skipLineEnds(ByteBuf in) {
            int next = in.forEachByte(ByteProcessor.FIND_NON_CRLF);
            in.readerIndex(next < 0 ? in.writerIndex() : next);
            return next < 0;
        }

        /** Suppresses the read that Netty's decoder would request while bytes are held back. */
        @Override
        public void channelReadComplete(ChannelHandlerContext context) throws Exception {
            if (holding == null) {
                super.channelReadComplete(context);
            } else {
                context.fireChannelReadComplete();
            }
        }

        /** Keeps the held-back bytes when the client shuts down its output, but Netty's decoder would decode them. */
        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
            if (event instanceof ChannelInputShutdownEvent && holding != null) {
                context.fireUserEventTriggered(event);
            } else {
                super.userEventTriggered(context, event);
            }
        }
    }
}
