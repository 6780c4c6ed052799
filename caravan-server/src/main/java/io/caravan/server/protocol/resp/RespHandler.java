package io.caravan.server.protocol.resp;

import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.codec.RespRequest;
import io.caravan.server.protocol.resp.codec.RespRequestDecoder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Handles the RESP connection of one client. Passes requests to a {@link CommandRunner}, writes replies, and reads from
 * the socket only while there is space for requests and replies. Closes the connection when the client has quit or will
 * send no more data, and all replies are written.
 */
final class RespHandler extends Connection {
    /** Time for which a stopping server waits for a client to close the connection, after {@link #STOP_GRACE}. */
    private static final Duration STOP_LINGER = Duration.ofMillis(500);

    /** Time for which a stopping server still replies to requests that were in transit. */
    private static final Duration STOP_GRACE = Duration.ofMillis(100);
    /** The value of {@link #unfinishedRequest} for a client that must still authenticate. */
    private static final long AUTHENTICATION = -1;

    private final RespProtocol protocol;
    private final Session session;
    private final ReplyQueue replies;
    private final CommandRunner runner;
    private final RespRequestDecoder decoder;
    private long requests;
    private boolean noMoreRequests;
    private boolean stopping;
    private boolean inProgress;
    private boolean moreProgress;

    RespHandler(Channel channel, RespProtocol protocol, ConnectionMemory memory) {
        super(channel, memory);
        this.protocol = protocol;
        this.replies = new ReplyQueue(channel, channel.eventLoop(), memory, this::progress, () -> inProgress);
        this.session = protocol.newSession(channel, replies);
        this.runner = new CommandRunner(channel, session, replies, protocol, this::progress);
        this.decoder = new RespRequestDecoder(protocol.limits, runner);
        memory.onRoom(this::progress);
        memory.waitingFor(runner::waitingNanos);
    }

    /** Returns the decoder, which precedes this handler in the pipeline. */
    RespRequestDecoder decoder() {
        return decoder;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object request) {
        requests++;
        memory.requestArrived();
        runner.offer(
                stopping && !protocol.redirects()
                        ? new RespRequest.Rejected("ERR the server is stopping")
                        : (RespRequest) request);
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
        runner.offer(new RespRequest.Rejected(
                owesAuthentication()
                        ? "NOAUTH Authentication required: the client did not authenticate in time"
                        : "ERR Protocol error: the request did not arrive completely in time"));
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
     * Runs requests and writes replies for one limited turn, so that other connections of the event loop get their
     * turns. Writing a reply can free space for more requests, and can call this method again. A failure closes only
     * this connection.
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
                // Callbacks may set moreProgress, so no assignment to this field may contain calls that run callbacks.
                boolean more = replies.flush();
                more |= decodeMore();
                if (more || moreProgress || readOnOrClose()) {
                    moreProgress = true;
                }
            }
            if (runner.endTurn()) {
                // Unlike a task passed to execute(), a scheduled task runs after the loop has polled all sockets.
                channel.eventLoop().schedule(this::progress, 1, TimeUnit.NANOSECONDS);
            }
        } catch (Throwable broken) {
            fail(broken);
        } finally {
            inProgress = false;
        }
    }

    /** Decodes held-back requests. Returns whether a request was decoded. */
    private boolean decodeMore() throws Exception {
        long before = requests;
        decoder.resume();
        return requests != before;
    }

    /** Resumes or pauses reading, or closes the connection. Returns whether held-back requests have space now. */
    private boolean readOnOrClose() {
        if (runner.idle()) {
            memory.settle(decoder.unfinishedBytes(), !decoder.paused() || !runner.mustWait());
        }
        closeWhenDone();
        boolean reads = !runner.full() && channel.isWritable() && memory.mayRead();
        // Do not read again after the end of input: epoll may have deregistered the socket.
        if (!closing && !((DuplexChannel) channel).isInputShutdown()) {
            channel.config().setAutoRead(reads);
        }
        return reads && decoder.paused() && memory.mayDecode();
    }

    private boolean repliedAll() {
        return runner.idle() && !decoder.paused();
    }

    private void closeWhenDone() {
        boolean done = noMoreRequests && repliedAll() || session.quitting() && runner.idle();
        if (done && !closing) {
            boolean lingers = runner.rejectedLast() || stopping;
            closeWhenSent(lingers ? () -> stopping ? STOP_LINGER : LINGER : null);
        }
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
}
