package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes connections that only occupy a place: their request does not arrive, their client receives no replies, or they
 * are idle.
 */
final class Deadlines {
    private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);

    private Deadlines() {}

    /**
     * Adds the handlers of one connection after the one named {@code before}; those of the protocol follow them. An
     * idle connection is closed after {@code idle}; zero means never.
     */
    static void add(
            ChannelPipeline pipeline, String before, Connection connection, NetworkLimits limits, Duration idle) {
        pipeline.addAfter(before, null, new Request(connection, limits.requestTimeout()));
        pipeline.addAfter(before, null, new Stall(limits.stallTimeout()));
        if (!idle.isZero()) {
            pipeline.addAfter(before, null, new Idle(connection, idle));
        }
    }

    /**
     * Ends a connection whose request does not arrive completely in time, even if it trickles in, and a new connection
     * on which none begins. Checks {@value #LOOKS} times within that time, so it may take a quarter longer. Time during
     * which the server itself does not read does not count.
     */
    private static final class Request extends ChannelInboundHandlerAdapter {
        private static final int LOOKS = 4;

        private final long lookNanos;
        private final Connection connection;
        private @Nullable Future<?> nextLook;
        private long request;
        private int looks;

        Request(Connection connection, Duration timeout) {
            this.connection = connection;
            this.lookNanos = timeout.toNanos() / LOOKS;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            begin(context.channel());
        }

        /** Cancels the next check, for which the loop would retain all of a connection that has ended. */
        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            if (nextLook != null) {
                nextLook.cancel(false);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.fireChannelReadComplete();
            begin(context.channel());
        }

        private void begin(Channel channel) {
            if (nextLook == null && connection.unfinishedRequest() != 0) {
                request = connection.unfinishedRequest();
                looks = 0;
                lookLater(channel);
            }
        }

        private void lookLater(Channel channel) {
            nextLook = channel.eventLoop().schedule(() -> look(channel), lookNanos, TimeUnit.NANOSECONDS);
        }

        private void look(Channel channel) {
            nextLook = null;
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
                lookLater(channel);
            } else {
                LOG.debug("closing {}: no whole request came in time", channel.remoteAddress());
                connection.requestTimedOut();
            }
        }
    }

    /**
     * Closes a connection whose client receives nothing of what was written; a single byte counts as progress. The
     * stall is detected after the timeout, and before twice that.
     */
    private static final class Stall extends IdleStateHandler {
        private final Duration timeout;

        Stall(Duration timeout) {
            super(true, 0, timeout.toNanos(), 0, TimeUnit.NANOSECONDS);
            this.timeout = timeout;
        }

        /** Skips the first event after a write, which only starts the comparison of the client's progress. */
        @Override
        protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
            Channel channel = context.channel();
            ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
            boolean waits = buffer != null && buffer.totalPendingWriteBytes() > 0;
            if (event.state() == IdleState.WRITER_IDLE && !event.isFirst() && waits) {
                LOG.warn("closing {}: it has taken nothing of an answer for {}", channel.remoteAddress(), timeout);
                context.close();
            }
        }
    }

    /** Closes a connection that has had no traffic for a time, unless an operation is in progress. */
    private static final class Idle extends IdleStateHandler {
        private final Connection connection;

        Idle(Connection connection, Duration timeout) {
            super(0, 0, timeout.toNanos(), TimeUnit.NANOSECONDS);
            this.connection = connection;
        }

        @Override
        protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
            if (connection.idle()) {
                LOG.debug("closing {}: it is idle", context.channel().remoteAddress());
                context.close();
            }
        }
    }
}
