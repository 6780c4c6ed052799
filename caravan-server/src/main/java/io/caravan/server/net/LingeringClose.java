package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection without losing its last reply: shuts down the output, then reads and discards input until the
 * client closes the connection or a time limit passes. Closing a socket with unread input would reset the connection,
 * and the client might not receive the reply.
 */
public final class LingeringClose extends ChannelInboundHandlerAdapter {
    private final Channel channel;

    private LingeringClose(Channel channel) {
        this.channel = channel;
    }

    /**
     * Starts closing a connection that has written all replies; its handlers receive no more messages. Call this on the
     * event loop of the connection.
     */
    public static void start(Channel channel, Duration timeout) {
        DuplexChannel duplex = (DuplexChannel) channel;
        if (!channel.isActive() || duplex.isInputShutdown()) {
            channel.close();
            return;
        }
        channel.pipeline().addFirst(new LingeringClose(channel));
        ConnectionMemory memory = channel.pipeline().get(ConnectionMemory.class);
        if (memory != null) {
            memory.close();
        }
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null) {
            duplex.shutdownOutput();
        } else {
            tls.closeOutbound().addListener(done -> duplex.shutdownOutput());
        }
        channel.config().setAutoRead(true);
        Future<?> end = channel.eventLoop().schedule(() -> channel.close(), timeout.toNanos(), TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> end.cancel(false));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ReferenceCountUtil.release(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        // This event is not passed on, because the messages that it follows were not passed on.
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            channel.close();
        }
    }
}
