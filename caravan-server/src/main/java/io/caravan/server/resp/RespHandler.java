package io.caravan.server.resp;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection: hands its requests to a {@link CommandRunner}, writes the answers, and reads from the socket
 * only while there is room for more of both. Ends when the client has quit, or will send no more, and has its answers.
 *
 * <p>A connection that ends because of what the client sent is closed late: what the client is still sending is read and
 * dropped for a while, because a socket that is closed over unread bytes takes back the answer that says what was wrong.
 */
final class RespHandler extends SimpleChannelInboundHandler<Request> {
    private static final Logger LOG = LoggerFactory.getLogger(RespHandler.class);

    private static final int LINGER_SECONDS = 2;

    private final Channel channel;
    private final RespService service;
    private final Session session;
    private final ReplyQueue replies;
    private final CommandRunner runner;
    private boolean ending;
    private boolean closing;
    private boolean lingering;
    private boolean inProgress;
    private boolean moreProgress;

    RespHandler(Channel channel, RespService service) {
        this.channel = channel;
        this.service = service;
        this.session = service.newSession(channel);
        this.replies = new ReplyQueue(channel, service.inbox(channel.eventLoop()), this::progress);
        this.runner = new CommandRunner(channel, session, replies, service, this::progress);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Request request) {
        runner.offer(request);
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
        if (event instanceof ChannelInputShutdownEvent && lingering) {
            context.close();
        } else if (event instanceof ChannelInputShutdownEvent) {
            end();
        }
    }

    /** Takes no more requests, answers those that came, and closes. */
    void end() {
        ending = true;
        session.end();
        progress();
    }

    /** Runs and writes what can be; writing can make room to run, and the socket can call back meanwhile. */
    private void progress() {
        moreProgress = true;
        if (inProgress) {
            return;
        }
        inProgress = true;
        while (moreProgress) {
            moreProgress = false;
            runner.run();
            moreProgress |= replies.flush();
        }
        inProgress = false;
        channel.config().setAutoRead(lingering || !ending && !runner.full() && channel.isWritable());
        closeWhenDone();
    }

    private void closeWhenDone() {
        if ((ending || session.quitting()) && runner.idle() && !closing) {
            closing = true;
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(
                            runner.sawMalformed() ? (ChannelFutureListener) this::linger : ChannelFutureListener.CLOSE);
        }
    }

    private void linger(ChannelFuture written) {
        DuplexChannel duplex = (DuplexChannel) channel;
        if (duplex.isInputShutdown()) {
            channel.close();
            return;
        }
        lingering = true;
        duplex.shutdownOutput();
        channel.config().setAutoRead(true);
        channel.eventLoop().schedule(() -> channel.close(), LINGER_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        service.forget(session);
        session.end();
        runner.close();
        replies.close();
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
