package io.caravan.server.net;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** System interfaces for sockets. NIO works everywhere; the others are native to Linux. */
public enum Transport {
    NIO {
        @Override
        public @Nullable Throwable unavailable() {
            return null;
        }

        @Override
        IoHandlerFactory handlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> listenerType() {
            return NioServerSocketChannel.class;
        }
    },
    EPOLL {
        @Override
        public @Nullable Throwable unavailable() {
            return Epoll.unavailabilityCause();
        }

        @Override
        IoHandlerFactory handlers() {
            return EpollIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> listenerType() {
            return EpollServerSocketChannel.class;
        }
    },
    IO_URING {
        @Override
        public @Nullable Throwable unavailable() {
            return IoUring.unavailabilityCause();
        }

        @Override
        IoHandlerFactory handlers() {
            return IoUringIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> listenerType() {
            return IoUringServerSocketChannel.class;
        }
    };

    /** The best one that this machine supports. */
    public static Transport best() {
        return EPOLL.unavailable() == null ? EPOLL : NIO;
    }

    /** Why this machine does not support it, or null when it does. */
    public abstract @Nullable Throwable unavailable();

    abstract IoHandlerFactory handlers();

    abstract Class<? extends ServerChannel> listenerType();

    /** Its name in settings and logs. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
