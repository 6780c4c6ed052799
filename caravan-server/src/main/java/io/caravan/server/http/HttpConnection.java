package io.caravan.server.http;

import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection: takes what the decoder makes of its bytes in turn, and has at most one request in hand. What came
 * in with it waits, and nothing more is read while something waits; otherwise the socket is read all the time, because one
 * that is not read does not tell that its client has gone.
 */
final class HttpConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);

    private final Channel channel;
    private final HttpService service;
    private final LateClose close;
    private final Deque<Object> inbox = new ArrayDeque<>();
    private final StallTimer readStall;
    private final StallTimer writeStall;
    private @Nullable IncomingRequest incoming;
    private @Nullable Exchange exchange;
    private @Nullable ResponseWriter writer;
    private boolean inputEnded;
    private boolean taking;

    HttpConnection(Channel channel, HttpService service) {
        this.channel = channel;
        this.service = service;
        this.close = new LateClose(channel);
        this.readStall = new StallTimer(
                channel.eventLoop(), service.config().stall(), this::bytesReceived, this::stalledReading);
        this.writeStall =
                new StallTimer(channel.eventLoop(), service.config().stall(), this::bytesPending, this::stalledWriting);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        channel.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        inbox.add(message);
        takeAll();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (incoming != null) {
            readStall.start();
        }
        readMore();
    }

    private void readMore() {
        if (inbox.isEmpty()) {
            channel.read();
        }
    }

    /** Takes what waits, up to the end of the next request. */
    private void takeAll() {
        if (taking) {
            return;
        }
        taking = true;
        while (!inbox.isEmpty() && (exchange == null || close.begun())) {
            Object message = inbox.remove();
            try {
                take(message);
            } finally {
                ReferenceCountUtil.release(message);
            }
        }
        taking = false;
    }

    private void take(Object message) {
        if (close.begun()) {
            return;
        }
        if (message instanceof HttpRequest head) {
            begin(head);
        }
        if (message instanceof HttpContent content && incoming != null) {
            take(incoming, content);
        }
    }

    private void begin(HttpRequest head) {
        ResponseWriter response = new ResponseWriter(channel, head, service.readiness()::draining);
        writer = response;
        try {
            incoming = admit(head, RequestTarget.of(head));
            if (incoming.expectsContinue()) {
                response.goOn();
            }
        } catch (ProblemException refused) {
            refuse(response, refused.problem());
        }
    }

    /** What to do with a request; one that is refused, and has no body, does not end the connection. */
    private IncomingRequest admit(HttpRequest head, RequestTarget target) {
        if (head.method().equals(HttpMethod.OPTIONS)) {
            return new IncomingRequest(head, target, service.preflight(), Principal.ANYONE, service.config());
        }
        try {
            Route route = service.router().find(head.method(), target.path());
            Principal principal = service.gate().check(route, target.path(), head.headers(), channel.remoteAddress());
            return new IncomingRequest(head, target, route, principal, service.config());
        } catch (ProblemException refused) {
            if (IncomingRequest.hasBody(head)) {
                throw refused;
            }
            return new IncomingRequest(
                    head, target, Route.refusing(head.method(), refused), Principal.ANYONE, service.config());
        }
    }

    /** Answers a request of which there may be more to come, and ends the connection if so. */
    private void refuse(ResponseWriter response, Problem problem) {
        readStall.stop();
        incoming = null;
        response.close();
        response.whole(problem.answer());
        service.metrics().refused(problem.status().code());
        end(true);
    }

    private void take(IncomingRequest request, HttpContent content) {
        ResponseWriter response = HttpService.required(writer);
        if (content.decoderResult().isFailure()) {
            refuse(response, RequestTarget.malformed(content.decoderResult().cause()));
            return;
        }
        try {
            request.add(content.content());
        } catch (ProblemException refused) {
            refuse(response, refused.problem());
            return;
        }
        if (content instanceof LastHttpContent) {
            readStall.stop();
            incoming = null;
            run(request, response);
        }
    }

    private void run(IncomingRequest request, ResponseWriter response) {
        Exchange begun =
                new Exchange(response, request.route(), request.principal(), request.complete(), this::answered);
        exchange = begun;
        try {
            begun.route().endpoint().handle(begun);
        } catch (RuntimeException problem) {
            begun.fail(problem);
        }
    }

    /** The answer is on its way: the next request may come. */
    private void answered() {
        Exchange done = HttpService.required(exchange);
        service.metrics().answered(done);
        if (!HttpService.required(writer).keepAlive() || service.readiness().draining()) {
            exchange = null;
            end(false);
            return;
        }
        // Not from within the exchange: a client that sends many requests ahead would have us call ourselves as often.
        channel.eventLoop().execute(this::next);
    }

    private void next() {
        watchWrites();
        if (close.begun() || !channel.isWritable()) {
            return;
        }
        exchange = null;
        takeAll();
        readMore();
        closeAfterLast();
    }

    private void closeAfterLast() {
        if (inputEnded && inbox.isEmpty() && exchange == null) {
            end(false);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        watchWrites();
        Exchange current = exchange;
        if (current != null && current.over() && channel.isWritable()) {
            next();
        } else if (current != null) {
            current.writable();
        }
    }

    private void watchWrites() {
        if (bytesPending() > 0) {
            writeStall.start();
        }
    }

    private long bytesReceived() {
        return incoming == null ? -1 : incoming.bytes();
    }

    /** Bytes that the socket has not taken; -1 when there are none. */
    private long bytesPending() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        long pending = buffer == null ? 0 : buffer.totalPendingWriteBytes();
        return pending == 0 ? -1 : Math.max(0, pending - buffer.currentProgress());
    }

    private void stalledReading() {
        refuse(
                HttpService.required(writer),
                new Problem(
                        HttpResponseStatus.REQUEST_TIMEOUT, "request_timeout", "the rest of the request did not come"));
    }

    private void stalledWriting() {
        LOG.warn("closing {}: it takes nothing", channel.remoteAddress());
        channel.close();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (!(event instanceof ChannelInputShutdownEvent)) {
            return;
        }
        inputEnded = true;
        if (close.lingering()) {
            channel.close();
        } else if (exchange != null) {
            exchange.drain();
        } else {
            closeAfterLast();
        }
    }

    /** Answers the request in hand, if there is one, and closes. */
    void drain() {
        if (exchange != null && !exchange.over()) {
            exchange.drain();
        } else if (incoming == null) {
            end(false);
        }
    }

    private void end(boolean unread) {
        watchWrites();
        close.begin(unread);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close.done();
        takeAll();
        readStall.stop();
        writeStall.stop();
        incoming = null;
        if (exchange != null && !exchange.over()) {
            exchange.gone();
            service.metrics().answered(exchange);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("{} is gone: {}", channel.remoteAddress(), cause.getMessage());
        } else {
            LOG.error("closing {}", channel.remoteAddress(), cause);
        }
        context.close();
    }
}
