package io.caravan.server.net;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The last handler of a connection, which implements its protocol. Used only on the event loop. */
public abstract class Connection extends ChannelInboundHandlerAdapter {
    /** Time for which a connection that ends with an error waits for its client to close it. */
    protected static final Duration LINGER = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    protected final Channel channel;
    protected final ConnectionMemory memory;
    /** Whether the connection closes when all written data has been sent. */
    protected boolean closing;

    protected Connection(Channel channel, ConnectionMemory memory) {
        this.channel = channel;
        this.memory = memory;
    }

    /** Whether the connection is idle: no request is arriving or waiting for a reply, and no document is tailed. */
    public abstract boolean idle();

    /**
     * Returns the number of the unfinished request: the request that has arrived in part, or the first request of a new
     * connection. The number is unique within the connection. Returns 0 if no request is unfinished.
     */
    public abstract long unfinishedRequest();

    /** Ends the connection because the unfinished request has taken too long. */
    public abstract void requestTimedOut();

    /**
     * Ends the connection when the server stops: replies to requests that have arrived completely, rejects later
     * requests, and then closes the connection.
     */
    public abstract void end();

    /**
     * Closes the connection after all written data has been sent.
     *
     * @param linger returns the time for which {@link LingeringClose} discards data that the client still sends, so that
     *     an error reply is not lost; null to close immediately
     */
    protected final void closeWhenSent(@Nullable Supplier<Duration> linger) {
        closing = true;
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                .addListener(
                        linger == null
                                ? ChannelFutureListener.CLOSE
                                : written -> LingeringClose.start(channel, linger.get()));
    }

    /** Closes the connection because of a failure of the server. */
    protected final void fail(Throwable problem) {
        LOG.error("closing {}", channel.remoteAddress(), problem);
        FatalErrors.report(problem);
        channel.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("{} is gone: {}", channel.remoteAddress(), cause.getMessage());
            channel.close();
        } else {
            fail(cause);
        }
    }
}
