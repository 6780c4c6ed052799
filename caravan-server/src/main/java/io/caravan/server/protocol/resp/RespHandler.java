package io.caravan.server.protocol.resp;

import io.caravan.server.net.AnswerMemory;
import io.caravan.server.net.Connection;
import io.caravan.server.net.FatalErrors;
import io.caravan.server.net.InFlight;
import io.caravan.server.net.LingeringClose;
import io.caravan.server.protocol.resp.codec.Request;
import io.caravan.server.protocol.resp.codec.RequestDecoder;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.reply.ReplyQueue;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection: hands its requests to a {@link CommandRunner}, writes the answers, and reads from the socket
 * only while there is room for more of both. Ends when the client has quit, or will send no more, and has its answers.
 *
 * <p>A connection that ends with an error lingers: input is read and dropped for a while, because closing a socket with
 * unread bytes would discard the answer that says what was wrong.
 */
final class RespHandler extends SimpleChannelInboundHandler<Request> implements Connection {
    private static final Logger LOG = LoggerFactory.getLogger(RespHandler.class);

    private static final Duration LINGER = Duration.ofSeconds(2);
    /** How long a stopping server waits for a client to close; before that it waits for requests under way. */
    private static final Duration STOP_LINGER = Duration.ofMillis(500);

    private static final Duration STOP_GRACE = Duration.ofMillis(100);
    /** The number of the unfinished request while the client has yet to authenticate. */
    private static final long AUTHENTICATION = -1;

    private final Channel channel;
    private final RespProtocol protocol;
    private final Session session;
    private final ReplyQueue replies;
    private final CommandRunner runner;
    private final RequestDecoder decoder;
    private final InFlight inFlight;
    private long requests;
    private boolean noMoreRequests;
    private boolean stopping;
    private boolean closing;
    private boolean inProgress;
    private boolean moreProgress;

    RespHandler(Channel channel, RespProtocol protocol, InFlight inFlight, AnswerMemory answers) {
        this.channel = channel;
        this.protocol = protocol;
        this.session = protocol.newSession(channel);
        this.replies =
                new ReplyQueue(channel, protocol.inbox(channel.eventLoop()), answers, this::progress, () -> inProgress);
        protocol.listening(session, channel, replies);
        this.runner = new CommandRunner(channel, session, replies, protocol, this::progress);
        this.decoder = new RequestDecoder(protocol.limits(), new Intake());
        this.inFlight = inFlight;
        inFlight.onRoom(this::progress);
        inFlight.waitingFor(runner::waitingNanos);
        answers.onRoom(this::progress);
    }

    /** What is asked before requests are decoded. After the last request all may come: what follows is dropped. */
    private final class Intake implements RequestDecoder.Intake {
        @Override
        public boolean open() {
            return session.quitting() || !runner.mustWait() && inFlight.mayDecode();
        }

        @Override
        public boolean stranger() {
            return session.stranger();
        }

        @Override
        public boolean grant(long bytes) {
            return session.quitting() || inFlight.tryHold(bytes);
        }
    }

    /** Decodes the requests; comes before this in the pipeline. */
    RequestDecoder decoder() {
        return decoder;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Request request) {
        requests++;
        inFlight.requestCame();
        runner.offer(stopping && !protocol.redirects() ? new Request.Refused("ERR the server is stopping") : request);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        progress();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        progress();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            session.endOfInput();
            noMoreRequests = true;
            progress();
        }
    }

    @Override
    public boolean idle() {
        return runner.idle() && decoder.unfinishedBytes() == 0;
    }

    @Override
    public long unfinishedRequest() {
        if (owesAuthentication()) {
            return AUTHENTICATION;
        }
        return decoder.unfinishedBytes() == 0 ? 0 : requests + 1;
    }

    private boolean owesAuthentication() {
        return session.stranger() && !session.quitting();
    }

    @Override
    public void requestTimedOut() {
        runner.offer(new Request.Refused(
                owesAuthentication()
                        ? "NOAUTH Authentication required: none came in time"
                        : "ERR Protocol error: the request did not come whole in time"));
        progress();
    }

    @Override
    public void end() {
        stopping = true;
        session.end();
        channel.eventLoop()
                .schedule(
                        () -> {
                            noMoreRequests = true;
                            progress();
                        },
                        STOP_GRACE.toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    /**
     * Runs and writes what it can, for one turn: other connections of the loop have theirs before the next one. Writing
     * can make room to run more, and the socket can call back meanwhile. A failure ends this connection, and no other on
     * the loop.
     */
    private void progress() {
        moreProgress = true;
        if (inProgress) {
            return;
        }
        inProgress = true;
        try {
            while (moreProgress) {
                moreProgress = false;
                runner.run();
                // Callbacks set the field, so nothing that they may come in is the right side of an assignment to it.
                boolean more = replies.flush();
                more |= decodeMore();
                if (more || moreProgress || readOnOrClose()) {
                    moreProgress = true;
                }
            }
            if (runner.endTurn()) {
                // A scheduled task runs after the loop has looked at all sockets, other than one that is executed.
                channel.eventLoop().schedule(this::progress, 1, TimeUnit.NANOSECONDS);
            }
        } catch (Throwable broken) {
            LOG.error("closing {}", channel.remoteAddress(), broken);
            channel.close();
            FatalErrors.report(broken);
        } finally {
            inProgress = false;
        }
    }

    /** Decodes requests that were held back; returns whether there were any. */
    private boolean decodeMore() throws Exception {
        long before = requests;
        decoder.resume();
        return requests != before;
    }

    /** Returns whether there is room now for what was held back. */
    private boolean readOnOrClose() {
        if (runner.idle()) {
            inFlight.settle(decoder.unfinishedBytes(), !decoder.heldBack() || !runner.mustWait());
        }
        closeWhenDone();
        boolean reads = !runner.full() && channel.isWritable() && inFlight.mayRead();
        // Do not read again after the end of input: epoll may have forgotten the socket.
        if (!closing && !((DuplexChannel) channel).isInputShutdown()) {
            channel.config().setAutoRead(reads);
        }
        return reads && decoder.heldBack() && inFlight.mayDecodeOrWake();
    }

    private boolean answeredAll() {
        return runner.idle() && !decoder.heldBack();
    }

    private void closeWhenDone() {
        boolean done = noMoreRequests && answeredAll() || session.quitting() && runner.idle();
        if (done && !closing) {
            closing = true;
            boolean lingers = runner.refusedLast() || stopping;
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(lingers ? (ChannelFutureListener) this::linger : ChannelFutureListener.CLOSE);
        }
    }

    private void linger(ChannelFuture written) {
        LingeringClose.start(channel, stopping ? STOP_LINGER : LINGER);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        protocol.forget(session);
        session.end();
        session.transaction(null);
        session.subscriptions().removeAll();
        runner.close();
        replies.close();
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
