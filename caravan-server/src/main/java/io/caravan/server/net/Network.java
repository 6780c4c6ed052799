package io.caravan.server.net;

import io.caravan.UninterruptibleThread;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The event loops, their listeners, and all their connections. */
public final class Network implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Network.class);
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(128 * 1024, 512 * 1024);

    /** The time for which an event loop runs tasks before it polls its sockets again. */
    private static final long MAX_TASKS_MILLIS = 5;

    private static final int MAX_REFUSALS = 64;
    private static final Duration REFUSAL_PATIENCE = Duration.ofSeconds(1);
    private static final AttributeKey<Connection> CONNECTION = AttributeKey.valueOf(Network.class, "connection");

    private final NetworkConfig config;
    private final EventLoopGroup loops;
    /** Limits the connections that are open only to receive a refusal. */
    private final ConnectionSlots refusals = new ConnectionSlots(MAX_REFUSALS, MAX_REFUSALS);

    /** The threads that compute TLS signatures when a connection begins. */
    private final ExecutorService signers;

    private final ConnectionSlots slots;
    private final MemoryBudget memory;
    private final Deadlines deadlines;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final List<Channel> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean draining;
    private volatile boolean closing;

    public Network(NetworkConfig config) {
        this.config = config;
        this.loops = new Loops();
        this.signers = Executors.newFixedThreadPool(config.loops(), new DefaultThreadFactory("caravan-tls", true));
        NetworkLimits limits = config.limits();
        this.slots = new ConnectionSlots(limits.maxConnections(), limits.maxConnectionsPerAddress());
        this.memory = new MemoryBudget(limits, loops.next());
        this.deadlines = new Deadlines(limits);
    }

    /**
     * Event loops that poll their sockets often. By default, a loop first runs tasks for up to a second, and the
     * connections of some clients always have tasks.
     */
    private final class Loops extends MultiThreadIoEventLoopGroup {
        Loops() {
            super(config.loops(), new LoopThreads(), config.transport().handlers());
        }

        @Override
        protected IoEventLoop newChild(Executor threads, IoHandlerFactory sockets, Object... none) {
            return new SingleThreadIoEventLoop(
                    this, threads, sockets, Integer.MAX_VALUE, RejectedExecutionHandlers.reject(), MAX_TASKS_MILLIS);
        }
    }

    /**
     * Creates threads that may flush the store's log, and that have Netty's thread-local variables. A thread that ends
     * while the network is open throws an exception after which {@link FatalErrors} ends the process.
     */
    final class LoopThreads extends DefaultThreadFactory {
        LoopThreads() {
            super("caravan-loop");
        }

        @Override
        protected Thread newThread(Runnable loop, String name) {
            return new UninterruptibleThread(() -> run(loop), name);
        }

        private void run(Runnable loop) {
            FastThreadLocalThread.runWithFastThreadLocal(loop);
            if (!closing) {
                throw new FatalErrors.EventLoopEndedException(
                        Thread.currentThread().getName());
            }
        }
    }

    /**
     * Starts to listen, and returns the address with the actual port: port 0 picks a free one. Throws
     * {@link IOException} if it cannot listen; the message contains the {@code option}, which is the setting for the
     * address.
     */
    public InetSocketAddress listen(InetSocketAddress address, String option, WireProtocol protocol)
            throws IOException {
        ServerBootstrap listener = new ServerBootstrap();
        config.transport().keepAlive(listener);
        ChannelFuture bound = listener.group(loops)
                .channel(config.transport().listenerType())
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .childHandler(new Setup(protocol))
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw cannotListen(address, option, bound.cause());
        }
        listeners.add(bound.channel());
        return (InetSocketAddress) bound.channel().localAddress();
    }

    /**
     * Returns a socket that occupies the address until the caller closes it. Throws {@link IOException}, as {@link
     * #listen} would, if another socket listens on the address. A server that first tries all of its addresses can thus
     * fail before it creates a store or claims an archive.
     */
    public static ServerSocket occupy(InetSocketAddress address, String option) throws IOException {
        ServerSocket trial = new ServerSocket();
        try {
            trial.setReuseAddress(true);
            trial.bind(address);
            return trial;
        } catch (IOException busy) {
            trial.close();
            throw cannotListen(address, option, busy);
        }
    }

    private static IOException cannotListen(InetSocketAddress address, String option, Throwable cause) {
        return new IOException(
                "cannot listen on " + address.getHostString() + ":" + address.getPort() + ": " + cause.getMessage()
                        + "; is another server running? choose another address with " + option,
                cause);
    }

    /** Sets up each new connection of one listener, or refuses it. */
    private final class Setup extends ChannelInitializer<Channel> {
        private final WireProtocol protocol;

        Setup(WireProtocol protocol) {
            this.protocol = protocol;
        }

        @Override
        protected void initChannel(Channel channel) {
            Tls tls = config.tls();
            if (tls != null) {
                channel.pipeline().addLast(tls.newHandler(channel.alloc(), signers), new Tls.Failures());
            }
            if (slots.take(channel)) {
                accept(channel);
            } else {
                refuse(channel);
            }
        }

        private void accept(Channel channel) {
            ConnectionMemory own = new ConnectionMemory(channel, memory);
            channel.pipeline().addLast(own);
            Connection connection = protocol.connect(channel, own);
            own.onIdle(connection::requestTimedOut);
            Duration idle = config.limits().idleTimeout();
            deadlines.watch(channel, own, connection, idle == null ? protocol.idleTimeout() : idle);
            channel.attr(CONNECTION).set(connection);
            connections.add(channel);
            if (draining) {
                // The connection was accepted before its listener closed, and the drain may have missed it.
                channel.eventLoop().execute(() -> end(channel));
            }
        }

        /**
         * Refuses a connection. A limited number of them receive a message at a time, so that refusals do not use up
         * the sockets; the others are only closed.
         */
        private void refuse(Channel channel) {
            if (!refusals.take(channel)) {
                channel.close();
                return;
            }
            LOG.debug("refusing {}: there is no place for it", channel.remoteAddress());
            channel.writeAndFlush(protocol.tooManyConnections())
                    .addListener(told -> LingeringClose.start(channel, REFUSAL_PATIENCE));
        }
    }

    public ChannelGroup connections() {
        return connections;
    }

    /** Returns the bytes of requests that were read and have no reply yet. */
    public long inFlightBytes() {
        return memory.requestBytes.get();
    }

    /** Returns the bytes of replies that clients have not received. */
    public long answerBytes() {
        return memory.replyBytes.get();
    }

    /** Returns the bytes held for waits of clients. */
    public long waitBytes() {
        return memory.waitBytes.get();
    }

    /** Returns the number of connections closed because they were idle while requests were at their limit. */
    public long closedForRequests() {
        return memory.closedForRequests.sum();
    }

    /** Returns the number of connections closed because they received nothing while replies were at their limit. */
    public long closedForAnswers() {
        return memory.closedForReplies.sum();
    }

    /** Returns the number of connections refused because of the limit on all connections. */
    public long refusedConnections() {
        return slots.refused();
    }

    /** Returns the number of connections refused because of the limit on one address. */
    public long refusedByAddress() {
        return slots.refusedByAddress();
    }

    public NetworkConfig config() {
        return config;
    }

    /**
     * Accepts no more connections and requests, and waits until all received requests have replies. A connection that
     * is still being set up is closed.
     */
    public void drain(Duration timeout) {
        draining = true;
        listeners.forEach(listener -> listener.close().awaitUninterruptibly());
        connections.forEach(channel -> channel.eventLoop().execute(() -> end(channel)));
        connections.newCloseFuture().awaitUninterruptibly(timeout.toNanos(), TimeUnit.NANOSECONDS);
        connections.close().awaitUninterruptibly();
    }

    private static void end(Channel channel) {
        ChannelHandlerContext tls = channel.pipeline().context(SslHandler.class);
        if (tls != null && !((SslHandler) tls.handler()).handshakeFuture().isDone()) {
            // It has no request yet, and can receive no reply. Bypasses TLS, which would wait for the client.
            tls.close();
            return;
        }
        Connection connection = channel.attr(CONNECTION).get();
        if (connection != null) {
            connection.end();
        }
    }

    /** Stops the event loops, even if connections are still open. */
    @Override
    public void close() {
        closing = true;
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        signers.shutdownNow();
    }
}
