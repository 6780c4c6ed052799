package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes a connection over which nothing has gone for a time, unless something is under way. */
final class IdleClose extends IdleStateHandler {
    private static final Logger LOG = LoggerFactory.getLogger(IdleClose.class);

    private final Channel channel;
    private final Connection connection;

    IdleClose(Channel channel, Connection connection, Duration timeout) {
        super(0, 0, timeout.toNanos(), TimeUnit.NANOSECONDS);
        this.channel = channel;
        this.connection = connection;
    }

    @Override
    protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
        if (connection.idle()) {
            LOG.debug("closing {}: it is idle", channel.remoteAddress());
            context.close();
        }
    }
}
