package io.caravan.server.protocol.http;

import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.FatalErrors;
import io.caravan.server.net.LingeringClose;
import io.caravan.server.protocol.http.HttpAuthorizer.LastToken;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the HTTP connection of one client, one request at a time. Bytes of later requests wait in the decoder, and
 * the socket is not read while bytes wait. While no bytes wait, the socket is read even during a request, because only
 * a read detects that the client has disconnected.
 */
public final class HttpConnection extends SimpleChannelInboundHandler<HttpObject> implements Connection {
    private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);

    private static final Duration LINGER = Duration.ofSeconds(2);

    /**
     * Maximum number of body parts that are processed before the other connections of the event loop get their turn.
     */
    private static final int TURN_PARTS = 1_000;

    private static final HttpRequest NO_HEAD = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");

    private final Channel channel;
    private final HttpProtocol protocol;
    private final ConnectionMemory memory;
    private final RequestDecoder decoder = new RequestDecoder(this::busy);
    private final LastToken lastToken = new LastToken();
    private @Nullable IncomingRequest incoming;
    private @Nullable HttpExchange exchange;
    private @Nullable ResponseWriter writer;
    /** The number of body parts processed in this turn. */
    private int parts;
    /** The number of the current or next request, counted from 1. */
    private long request = 1;

    private boolean inputEnded;
    private boolean closing;

    public HttpConnection(Channel channel, HttpProtocol protocol, ConnectionMemory memory) {
        this.channel = channel;
        this.protocol = protocol;
        this.memory = memory;
        memory.onRoom(() -> {
            next();
            readMore();
        });
    }

    /** Returns the decoder, which precedes this handler in the pipeline. */
    public RequestDecoder decoder() {
        return decoder;
    }

    /**
     * Whether the bytes of later requests must wait. Bytes after the last request do not wait, because they are
     * discarded.
     */
    private boolean busy() {
        return (exchange != null || parts >= TURN_PARTS) && !closing;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
        if (closing) {
            return;
        }
        if (message instanceof HttpRequest head) {
            begin(head);
        }
        if (message instanceof HttpContent content && incoming != null) {
            take(incoming, content);
            if (++parts == TURN_PARTS) {
                channel.eventLoop().execute(this::nextTurn);
            }
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
            memory.settle(decoder.heldBytes() + (incoming == null ? 0 : incoming.heldBytes()), true);
        }
        channel.config().setAutoRead(!closing && !decoder.holding() && memory.mayRead());
    }

    private void begin(HttpRequest head) {
        ResponseWriter response = writer(head);
        writer = response;
        memory.hold(RequestDecoder.headBytes(head));
        try {
            incoming = protocol.admit(head, channel.remoteAddress(), lastToken);
            if (incoming.expectsContinue()) {
                response.sendContinue();
            }
        } catch (Problem rejected) {
            reject(response, rejected);
        }
    }

    private ResponseWriter writer(HttpRequest head) {
        return new ResponseWriter(channel, memory, head, protocol.origins(), protocol.readiness()::draining);
    }

    /** Responds to a request that may not have arrived completely, and ends the connection. */
    private void reject(ResponseWriter response, Problem problem) {
        incoming = null;
        response.close();
        response.whole(problem.response());
        protocol.rejected(problem.status());
        end(true);
    }

    private void take(IncomingRequest begun, HttpContent content) {
        ResponseWriter response = Objects.requireNonNull(writer);
        try {
            if (content.decoderResult().isFailure()) {
                throw Request.malformed(content.decoderResult().cause());
            }
            memory.hold(begun.add(content.content()));
        } catch (Problem rejected) {
            reject(response, rejected);
            return;
        }
        if (content instanceof LastHttpContent) {
            incoming = null;
            memory.requestArrived();
            HttpExchange whole =
                    new HttpExchange(response, begun.route(), begun.principal(), begun.complete(), this::ended);
            exchange = whole;
            request++;
            whole.onBodyReleased(() -> memory.settle(decoder.heldBytes(), false));
            whole.run(() -> whole.route().endpoint().handle(whole));
        }
    }

    /** Ends the current request after its response has been written. */
    private void ended() {
        HttpExchange done = Objects.requireNonNull(exchange);
        protocol.ended(done);
        if (!Objects.requireNonNull(writer).keepAlive() || protocol.readiness().draining()) {
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
            reject(writer(NO_HEAD), problem);
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
            closing = true;
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(
                            unread ? written -> LingeringClose.start(channel, LINGER) : ChannelFutureListener.CLOSE);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closing = true;
        incoming = null;
        if (exchange != null && !exchange.over()) {
            exchange.gone();
            protocol.ended(exchange);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("{} is gone: {}", channel.remoteAddress(), cause.getMessage());
        } else {
            LOG.error("closing {}", channel.remoteAddress(), cause);
            FatalErrors.report(cause);
        }
        context.close();
    }
}
