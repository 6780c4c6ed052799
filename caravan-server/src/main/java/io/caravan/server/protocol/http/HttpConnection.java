package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * Handles the HTTP connection of one client, one request at a time. Bytes of later requests wait in the decoder, and
 * the socket is not read while bytes wait. While no bytes wait, the socket is read even during a request, because only
 * a read detects that the client has disconnected.
 */
public final class HttpConnection extends Connection {
    private static final String SCHEME = "Bearer ";

    /** Maximum number of body parts before the other connections of the event loop get their turn. */
    private static final int TURN_PARTS = 1_000;

    private static final HttpRequest NO_HEAD = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

    final HttpProtocol protocol;
    private final RequestDecoder decoder = new RequestDecoder(this::busy);
    /** The last valid token, so that later requests of a client need no cryptographic hash of it. */
    private byte[] lastToken = {};

    private @Nullable Principal lastTokenOwner;
    /** The exchange whose request is arriving. */
    private @Nullable HttpExchange incoming;
    /** The exchange whose request is being handled. */
    private @Nullable HttpExchange exchange;
    /** The number of body parts processed in this turn. */
    private int parts;
    /** The number of the current or next request, counted from 1. */
    private long request = 1;

    private boolean inputEnded;

    public HttpConnection(Channel channel, HttpProtocol protocol, ConnectionMemory memory) {
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

    /** Returns the decoder, which precedes this handler in the pipeline. */
    public RequestDecoder decoder() {
        return decoder;
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
        if (inputEnded && exchange == null && !decoder.holding()) {
            end(false);
        }
    }

    /** Decides, after each read of the socket, whether to read more, even if no message was decoded. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        readMore();
    }

    private void readMore() {
        if (exchange == null) {
            memory.settle(
                    decoder.heldBytes()
                            + (incoming == null ? 0 : incoming.request().heldBytes()),
                    true);
        }
        channel.config().setAutoRead(!closing && !decoder.holding() && memory.mayRead());
    }

    private void begin(HttpRequest head) {
        try {
            incoming = protocol.admit(head, this);
            memory.hold(incoming.request().headBytes());
            if (incoming.request().expectsContinue()) {
                incoming.sendContinue();
            }
        } catch (Problem rejected) {
            reject(head, rejected);
        }
    }

    /**
     * Returns the principal of the client if the client may use the route. Routes that require no permission are open
     * to all clients, but may return more data to clients with a token. Throws {@link Problem} if the client has no
     * valid token or lacks the permission.
     */
    Principal authorize(Route route, Request request) {
        if (!protocol.authenticator.required()) {
            return Principal.ANYONE;
        }
        Principal principal = principal(request.headers().get(HttpHeaderNames.AUTHORIZATION));
        Permission permission = route.permission();
        if (permission == null) {
            return principal == null ? Principal.ANONYMOUS : principal;
        }
        if (principal == null) {
            throw Problem.unauthorized("send a valid token: Authorization: Bearer <token>");
        }
        if (route.aboutDocument()) {
            check(principal, permission, StreamName.of(route.rest(request.path())));
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

    /** Returns the owner of the token, or null if the token is absent or unknown. */
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
        reject(new HttpExchange(this, new Request(head, "/", Query.NONE), route, Principal.ANYONE), problem);
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
            memory.hold(arriving.request().add(content.content()));
        } catch (Problem rejected) {
            reject(arriving, rejected);
            return;
        }
        if (content instanceof LastHttpContent) {
            incoming = null;
            memory.requestArrived();
            exchange = arriving;
            request++;
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
        if (exchange == null || !exchange.over() || closing || !channel.isWritable() || !memory.mayReply(0)) {
            return;
        }
        exchange = null;
        resume();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (exchange != null && !exchange.over()) {
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
        return incoming != null || decoder.begun();
    }

    @Override
    public void requestTimedOut() {
        if (unfinished()) {
            Problem problem = new Problem(408, "request_timeout", "the rest of the request did not arrive in time");
            reject(NO_HEAD, problem);
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
        } else if (!decoder.holding()) {
            end(false);
        }
    }

    @Override
    public void end() {
        if (exchange != null && !exchange.over()) {
            exchange.drain();
        } else if (incoming == null) {
            end(false);
        }
    }

    /**
     * Closes the connection after all written data has been sent.
     *
     * @param unread whether unread bytes of a request may still arrive
     */
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
}
