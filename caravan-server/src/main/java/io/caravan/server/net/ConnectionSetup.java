package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sets up each new connection of one listener, or refuses it. */
final class ConnectionSetup extends ChannelInitializer<Channel> {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionSetup.class);
    /** The name of the handler that the deadlines stand behind. */
    private static final String IN_FLIGHT = "inFlight";

    private static final Duration REFUSAL_PATIENCE = Duration.ofSeconds(1);

    private final WireProtocol protocol;
    private final NetworkLimits limits;
    private final @Nullable Tls tls;
    private final SharedLimits shared;
    private final BiConsumer<Channel, Connection> opened;

    /**
     * Makes a setup.
     *
     * @param opened is told of each connection that was not refused
     */
    ConnectionSetup(
            WireProtocol protocol,
            NetworkLimits limits,
            @Nullable Tls tls,
            SharedLimits shared,
            BiConsumer<Channel, Connection> opened) {
        this.protocol = protocol;
        this.limits = limits;
        this.tls = tls;
        this.shared = shared;
        this.opened = opened;
    }

    @Override
    protected void initChannel(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        if (tls != null) {
            pipeline.addLast(tls.newHandler(channel.alloc()), new TlsFailures());
        }
        if (shared.connections().take(channel)) {
            accept(channel);
        } else {
            refuse(channel);
        }
    }

    /** The deadlines stand before the protocol's handlers, which are asked how the connection stands. */
    private void accept(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        InFlight inFlight = new InFlight(channel, shared.inFlight(), limits.connectionInFlightBytes());
        pipeline.addLast(IN_FLIGHT, inFlight);
        Connection connection = protocol.connect(channel, inFlight);
        addBeforeProtocol(pipeline, new RequestDeadline(channel, connection, limits.requestTimeout()));
        if (!limits.idleTimeout().isZero()) {
            addBeforeProtocol(pipeline, new IdleClose(channel, connection, limits.idleTimeout()));
        }
        opened.accept(channel, connection);
    }

    private static void addBeforeProtocol(ChannelPipeline pipeline, ChannelHandler handler) {
        pipeline.addAfter(IN_FLIGHT, null, handler);
    }

    /** Only so many are told at a time: who refuses must not run out of sockets for it. */
    private void refuse(Channel channel) {
        if (!shared.refusals().take(channel)) {
            channel.close();
            return;
        }
        LOG.debug("{} is one connection too many", channel.remoteAddress());
        channel.writeAndFlush(protocol.tooManyConnections())
                .addListener(written -> LingeringClose.start(channel, REFUSAL_PATIENCE));
    }
}
