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
 * Closes a connection late: sends the end of the stream, then reads and discards the client's input, for a time or
 * until the client closes. A socket that is closed with unread bytes is reset, and the client may lose the last reply.
 */
public final class LingeringClose extends ChannelInboundHandlerAdapter {
    private final Channel channel;

    private LingeringClose(Channel channel) {
        this.channel = channel;
    }

    /**
     * Closes a connection that has written everything. Call this on its event loop. Its handlers receive no more
     * messages.
     */
    public static void start(Channel channel, Duration patience) {
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
            tls.closeOutbound().addListener(told -> duplex.shutdownOutput());
        }
        channel.config().setAutoRead(true);
        Future<?> end = channel.eventLoop().schedule(() -> channel.close(), patience.toNanos(), TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> end.cancel(false));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ReferenceCountUtil.release(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        // Later handlers have received no message.
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            channel.close();
        }
    }
}
