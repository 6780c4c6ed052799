package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.EventExecutor;
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

    private static final int MAX_REFUSALS = 64;
    private static final Duration REFUSAL_PATIENCE = Duration.ofSeconds(1);

    private final WireProtocol protocol;
    private final NetworkLimits limits;
    private final @Nullable Tls tls;
    private final Shared shared;
    private final BiConsumer<Channel, Connection> opened;

    /**
     * What the connections of all listeners take from.
     *
     * @param connections places for connections
     * @param refusals places for connections that are only being told that they are refused
     * @param inFlight bytes for requests
     * @param answers bytes for answers
     */
    record Shared(
            ConnectionSlots connections, ConnectionSlots refusals, InFlightBudget inFlight, AnswerBudget answers) {
        static Shared of(NetworkLimits limits, EventExecutor timer) {
            return new Shared(
                    new ConnectionSlots(limits.maxConnections(), limits.maxConnectionsPerAddress()),
                    new ConnectionSlots(MAX_REFUSALS, MAX_REFUSALS),
                    new InFlightBudget(limits.totalInFlightBytes()),
                    new AnswerBudget(limits.totalAnswerBytes(), timer));
        }
    }

    /**
     * Makes a setup.
     *
     * @param opened called with each connection that was accepted
     */
    ConnectionSetup(
            WireProtocol protocol,
            NetworkLimits limits,
            @Nullable Tls tls,
            Shared shared,
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
            pipeline.addLast(tls.newHandler(channel.alloc()), new Tls.Failures());
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
        AnswerMemory answers = new AnswerMemory(channel, shared.answers());
        pipeline.addLast(answers).addLast(IN_FLIGHT, inFlight);
        Connection connection = protocol.connect(channel, inFlight, answers);
        Duration idle = limits.idleTimeout() == null ? protocol.idleTimeout() : limits.idleTimeout();
        Deadlines.add(pipeline, IN_FLIGHT, connection, limits, idle);
        opened.accept(channel, connection);
    }

    /** Only so many are told at a time, so that refusals do not use up the sockets; the others are just closed. */
    private void refuse(Channel channel) {
        if (!shared.refusals().take(channel)) {
            channel.close();
            return;
        }
        LOG.debug("refusing {}: there is no place for it", channel.remoteAddress());
        channel.writeAndFlush(protocol.tooManyConnections())
                .addListener(written -> LingeringClose.start(channel, REFUSAL_PATIENCE));
    }
}
