package io.caravan.server.net;

import io.caravan.UninterruptibleThread;
import io.caravan.server.config.HostPort;
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

/** The event loops of a server, with its listeners and all its connections. */
public final class Network implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Network.class);
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(128 * 1024, 512 * 1024);

    /** The maximum time for which an event loop runs tasks before it polls its sockets again. */
    private static final long MAX_TASKS_MILLIS = 5;

    private static final int MAX_REJECTIONS = 64;
    private static final Duration REJECTION_TIMEOUT = Duration.ofSeconds(1);
    private static final AttributeKey<Connection> CONNECTION = AttributeKey.valueOf(Network.class, "connection");

    private final NetworkConfig config;
    private final EventLoopGroup loops;
    /** Limits the number of rejected connections that stay open only to receive a message. */
    private final ConnectionLimiter rejections = new ConnectionLimiter(MAX_REJECTIONS, MAX_REJECTIONS);

    /** The threads that compute TLS signatures when a connection begins. */
    private final ExecutorService signers;

    private final ConnectionLimiter slots;
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
        this.slots = new ConnectionLimiter(limits.maxConnections(), limits.maxConnectionsPerAddress());
        this.memory = new MemoryBudget(limits, loops.next());
        this.deadlines = new Deadlines(limits);
    }

    /**
     * Event loops that poll their sockets often. By default, a loop runs tasks for up to a second before it polls its
     * sockets, and some clients create tasks continuously.
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
     * Creates threads that may flush the store's log, and that have Netty's thread-local variables. If a loop ends
     * while the network is open, its thread throws an exception, and {@link FatalErrors} ends the process.
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
     * Starts listening, and returns the address with the actual port; port 0 picks a free port. Throws {@link
     * IOException} if the server cannot listen on the address. The message names the {@code option} that sets the
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
     * Returns a socket that occupies the address until the caller closes the socket. Throws {@link IOException} like
     * {@link #listen} if another socket listens on the address. By occupying all of its addresses first, a server can
     * fail before it creates a store or takes ownership of an archive.
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
                "cannot listen on " + new HostPort(address.getHostString(), address.getPort()) + ": "
                        + cause.getMessage() + "; is another server running? choose another address with " + option,
                cause);
    }

    /** Sets up each new connection of one listener, or rejects it. */
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
                reject(channel);
            }
        }

        private void accept(Channel channel) {
            ConnectionMemory own = new ConnectionMemory(channel, memory);
            channel.pipeline().addLast(own);
            Connection connection = protocol.connect(channel, own);
            own.onIdle(connection::requestTimedOut);
            Duration idle = config.limits().idleTimeout();
            deadlines.watch(connection, idle == null ? protocol.idleTimeout() : idle);
            channel.attr(CONNECTION).set(connection);
            connections.add(channel);
            if (draining) {
                // The connection was accepted before its listener closed, but drain() may not have found it.
                channel.eventLoop().execute(() -> end(channel));
            }
        }

        /**
         * Rejects a connection with a message. If too many rejected connections are still open, closes it without a
         * message, so that rejections do not use up the sockets.
         */
        private void reject(Channel channel) {
            if (!rejections.take(channel)) {
                channel.close();
                return;
            }
            LOG.debug("rejecting {}: the limit of connections is reached", channel.remoteAddress());
            channel.writeAndFlush(protocol.tooManyConnections())
                    .addListener(written -> LingeringClose.start(channel, REJECTION_TIMEOUT));
        }
    }

    /** Runs a task, which must not block, on an event loop after each period until the network closes. */
    public void repeat(Duration period, Runnable task) {
        loops.next().scheduleWithFixedDelay(task, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    public ChannelGroup connections() {
        return connections;
    }

    public long inFlightBytes() {
        return memory.requestBytes.get();
    }

    public long replyBytes() {
        return memory.replyBytes.get();
    }

    public long waitBytes() {
        return memory.waitBytes.get();
    }

    /** Returns the number of connections closed because they were idle while requests were at their limit. */
    public long closedForRequests() {
        return memory.closedForRequests.sum();
    }

    /**
     * Returns the number of connections closed because their clients received nothing while replies were at their
     * limit.
     */
    public long closedForReplies() {
        return memory.closedForReplies.sum();
    }

    /** Returns the number of connections rejected because of the limit on the total number of connections. */
    public long rejectedConnections() {
        return slots.rejected();
    }

    /** Returns the number of connections rejected because of the limit per address. */
    public long rejectedByAddress() {
        return slots.rejectedByAddress();
    }

    public NetworkConfig config() {
        return config;
    }

    /**
     * Stops accepting connections and requests, and waits until all received requests have replies, or until the
     * timeout expires. Closes connections whose TLS handshake is not complete.
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
            // The connection has no request yet, so no reply can be lost. TLS, which would wait for the client, is
            // bypassed.
            tls.close();
            return;
        }
        Connection connection = channel.attr(CONNECTION).get();
        if (connection != null) {
            connection.end();
        }
    }

    /** Stops the event loops, even if there are open connections. */
    @Override
    public void close() {
        closing = true;
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        signers.shutdownNow();
    }
}
