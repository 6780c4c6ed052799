package io.caravan.server.net;

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** System interfaces for sockets. NIO works everywhere; the others are native to Linux. */
public enum Transport {
    NIO(() -> null, NioIoHandler::newFactory, NioServerSocketChannel.class, NioSocketChannel.class),
    EPOLL(
            Epoll::unavailabilityCause,
            EpollIoHandler::newFactory,
            EpollServerSocketChannel.class,
            EpollSocketChannel.class),
    IO_URING(
            IoUring::unavailabilityCause,
            IoUringIoHandler::newFactory,
            IoUringServerSocketChannel.class,
            IoUringSocketChannel.class);

    private final Supplier<@Nullable Throwable> unavailable;
    private final Supplier<IoHandlerFactory> handlers;
    private final Class<? extends ServerChannel> listenerType;
    private final Class<? extends Channel> clientType;

    Transport(
            Supplier<@Nullable Throwable> unavailable,
            Supplier<IoHandlerFactory> handlers,
            Class<? extends ServerChannel> listenerType,
            Class<? extends Channel> clientType) {
        this.unavailable = unavailable;
        this.handlers = handlers;
        this.listenerType = listenerType;
        this.clientType = clientType;
    }

    /** The best one that this machine supports. */
    public static Transport best() {
        return EPOLL.unavailable() == null ? EPOLL : NIO;
    }

    /** Why this machine does not support it, or null when it does. */
    public @Nullable Throwable unavailable() {
        return unavailable.get();
    }

    IoHandlerFactory handlers() {
        return handlers.get();
    }

    Class<? extends ServerChannel> listenerType() {
        return listenerType;
    }

    /** For connections to other servers. */
    public Class<? extends Channel> clientType() {
        return clientType;
    }

    /** Its name in settings and logs. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
