package io.caravan.server.net;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;

/**
 * An epoll handler that lets a server send replies to a client that has shut down its output. The socket of such a
 * client waits for no event while all replies fit into its send buffer. Netty's handler removes a socket that waits for
 * no event from epoll, and fails when the socket must wait again. This handler keeps the socket registered.
 */
record HalfCloseEpollHandler(IoHandler epoll) implements IoHandler {
    static IoHandlerFactory newFactory() {
        IoHandlerFactory handlers = EpollIoHandler.newFactory();
        return executor -> new HalfCloseEpollHandler(handlers.newHandler(executor));
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return new LastingRegistration(epoll.register(handle));
    }

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return epoll.run(context);
    }

    @Override
    public void prepareToDestroy() {
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        epoll.destroy();
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return epoll.isCompatible(type);
    }

    private record LastingRegistration(IoRegistration registration) implements IoRegistration {
        @Override
        public <T> T attachment() {
            return registration.attachment();
        }

        /** Epoll always reports errors. Edge-triggered, it reports them once, so that the event loop does not spin. */
        @Override
        public long submit(IoOps events) {
            return registration.submit(EpollIoOps.NONE.equals(events) ? EpollIoOps.EPOLLET : events);
        }

        @Override
        public boolean isValid() {
            return registration.isValid();
        }

        @Override
        public boolean cancel() {
            return registration.cancel();
        }
    }
}
