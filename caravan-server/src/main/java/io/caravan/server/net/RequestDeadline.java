package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a connection whose request has begun and does not come whole in time, however it trickles. Looks {@value #LOOKS}
 * times within that time, so it may take a quarter longer; while the server itself does not read, time stands still.
 */
final class RequestDeadline extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(RequestDeadline.class);
    private static final int LOOKS = 4;

    private final Channel channel;
    private final long lookNanos;
    private final Connection connection;
    private boolean looking;
    private long request;
    private int looks;

    RequestDeadline(Channel channel, Connection connection, Duration timeout) {
        this.channel = channel;
        this.connection = connection;
        this.lookNanos = timeout.toNanos() / LOOKS;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.fireChannelReadComplete();
        if (!looking && connection.unfinishedRequest() != 0) {
            request = connection.unfinishedRequest();
            looks = 0;
            lookLater();
        }
    }

    private void lookLater() {
        looking = true;
        channel.eventLoop().schedule(this::look, lookNanos, TimeUnit.NANOSECONDS);
    }

    private void look() {
        looking = false;
        long unfinished = connection.unfinishedRequest();
        if (unfinished == 0 || !channel.isActive()) {
            return;
        }
        if (unfinished != request) {
            request = unfinished;
            looks = 0;
        } else if (channel.config().isAutoRead()) {
            looks++;
        }
        if (looks < LOOKS) {
            lookLater();
        } else {
            LOG.info("closing {}: its request did not come whole in time", channel.remoteAddress());
            connection.requestTimedOut();
        }
    }
}
