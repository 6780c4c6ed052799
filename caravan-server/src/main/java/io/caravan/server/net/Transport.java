package io.caravan.server.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The system interfaces for sockets. NIO works everywhere; the others require Linux. */
public enum Transport {
    NIO(
            () -> null,
            NioIoHandler::newFactory,
            NioServerSocketChannel.class,
            NioSocketChannel.class,
            nioKeepaliveOptions()),
    EPOLL(
            Epoll::unavailabilityCause,
            HalfCloseEpollHandler::newFactory,
            EpollServerSocketChannel.class,
            EpollSocketChannel.class,
            List.of(EpollChannelOption.TCP_KEEPIDLE, EpollChannelOption.TCP_KEEPINTVL, EpollChannelOption.TCP_KEEPCNT)),
    IO_URING(
            IoUring::unavailabilityCause,
            IoUringIoHandler::newFactory,
            IoUringServerSocketChannel.class,
            IoUringSocketChannel.class,
            List.of(
                    IoUringChannelOption.TCP_KEEPIDLE,
                    IoUringChannelOption.TCP_KEEPINTVL,
                    IoUringChannelOption.TCP_KEEPCNT));

    /**
     * The time from the last received byte until the operating system detects that a client's machine or network is
     * down.
     */
    public static final Duration KEEPALIVE = Duration.ofSeconds(300);

    private static final int KEEPALIVE_PROBES = 3;
    private static final int KEEPALIVE_INTERVAL_SECONDS = (int) KEEPALIVE.toSeconds() / 3 / KEEPALIVE_PROBES;
    private static final int KEEPALIVE_IDLE_SECONDS = (int) KEEPALIVE.toSeconds() * 2 / 3;

    private final Supplier<@Nullable Throwable> unavailable;
    private final Supplier<IoHandlerFactory> handlers;
    private final Class<? extends ServerChannel> listenerType;
    private final Class<? extends Channel> clientType;
    /**
     * The keep-alive options for the idle time, the probe interval, and the number of probes; empty if the JDK lacks
     * them.
     */
    final List<ChannelOption<Integer>> keepaliveOptions;

    Transport(
            Supplier<@Nullable Throwable> unavailable,
            Supplier<IoHandlerFactory> handlers,
            Class<? extends ServerChannel> listenerType,
            Class<? extends Channel> clientType,
            List<ChannelOption<Integer>> keepaliveOptions) {
        this.unavailable = unavailable;
        this.handlers = handlers;
        this.listenerType = listenerType;
        this.clientType = clientType;
        this.keepaliveOptions = keepaliveOptions;
    }

    /** Returns epoll if this machine supports it, and NIO otherwise. */
    public static Transport best() {
        return EPOLL.unavailable() == null ? EPOLL : NIO;
    }

    /** Returns the reason why this machine does not support the transport, or null if it does. */
    public @Nullable Throwable unavailable() {
        return unavailable.get();
    }

    IoHandlerFactory handlers() {
        return handlers.get();
    }

    Class<? extends ServerChannel> listenerType() {
        return listenerType;
    }

    public Class<? extends Channel> clientType() {
        return clientType;
    }

    /** Enables TCP keep-alive; without it, the connection of a client whose machine is down would stay open forever. */
    void keepAlive(ServerBootstrap listener) {
        listener.childOption(ChannelOption.SO_KEEPALIVE, true);
        if (!keepaliveOptions.isEmpty()) {
            listener.childOption(keepaliveOptions.get(0), KEEPALIVE_IDLE_SECONDS)
                    .childOption(keepaliveOptions.get(1), KEEPALIVE_INTERVAL_SECONDS)
                    .childOption(keepaliveOptions.get(2), KEEPALIVE_PROBES);
        }
    }

    /** Returns the JDK's options for keep-alive, or none if the JDK lacks one of them. */
    @SuppressWarnings("unchecked") // The values of all these options are numbers.
    private static List<ChannelOption<Integer>> nioKeepaliveOptions() {
        List<ChannelOption<Integer>> found = new ArrayList<>();
        try (SocketChannel any = SocketChannel.open()) {
            for (String name : List.of("TCP_KEEPIDLE", "TCP_KEEPINTERVAL", "TCP_KEEPCOUNT")) {
                for (SocketOption<?> option : any.supportedOptions()) {
                    if (option.name().equals(name)) {
                        found.add(NioChannelOption.of((SocketOption<Integer>) option));
                    }
                }
            }
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
        return found.size() == 3 ? List.copyOf(found) : List.of();
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
