package io.caravan.server.resp;

import io.caravan.server.ServerStatus;
import io.caravan.server.document.DocumentService;
import io.caravan.server.security.Authenticator;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Accepts RESP connections on one address. */
public final class RespServer {
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(128 * 1024, 512 * 1024);

    private final Channel listener;
    private final ChannelGroup connections;

    private RespServer(Channel listener, ChannelGroup connections) {
        this.listener = listener;
        this.connections = connections;
    }

    /**
     * Starts to listen.
     *
     * @param loops where connections run
     * @param readers where reads run, which may wait
     * @param status also counts the connections
     * @param authenticator tells who a client is
     * @throws IOException when the address cannot be had
     */
    public static RespServer start(
            InetSocketAddress address,
            RespLimits limits,
            EventLoopGroup loops,
            Executor readers,
            DocumentService documents,
            ServerStatus status,
            Authenticator authenticator)
            throws IOException {
        RespService service = new RespService(documents, status, readers, limits, authenticator);
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .childHandler(new RespInitializer(service, limits, status.connections()))
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + address.getHostString() + ":" + address.getPort() + ": "
                            + bound.cause().getMessage()
                            + "; is another server running? choose another address with --resp",
                    bound.cause());
        }
        return new RespServer(bound.channel(), status.connections());
    }

    /** Where it listens, with the real port when 0 was asked for. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    /** Accepts no more connections and no more requests, and waits for the answers to those that came. */
    public void drain(long timeoutNanos) {
        listener.close().awaitUninterruptibly();
        connections.forEach(channel -> channel.eventLoop().execute(() -> {
            RespHandler handler = channel.pipeline().get(RespHandler.class);
            if (handler != null) {
                handler.end();
            }
        }));
        connections.newCloseFuture().awaitUninterruptibly(timeoutNanos, TimeUnit.NANOSECONDS);
        connections.close().awaitUninterruptibly();
    }
}
