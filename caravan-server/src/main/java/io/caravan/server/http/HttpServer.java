package io.caravan.server.http;

import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.security.Authenticator;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Accepts HTTP connections on one address: from the start for those who ask how the server is, and for documents once it
 * {@linkplain #serve serves} some.
 */
public final class HttpServer {
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(32 * 1024, 128 * 1024);

    private final Channel listener;
    private final ChannelGroup connections;
    private final HttpService service;

    private HttpServer(Channel listener, ChannelGroup connections, HttpService service) {
        this.listener = listener;
        this.connections = connections;
        this.service = service;
    }

    /**
     * Starts to listen.
     *
     * @param loops where connections run
     * @param readers where reads run, which may wait
     * @throws IOException when the address cannot be had
     */
    public static HttpServer start(
            HttpConfig config,
            EventLoopGroup loops,
            Executor readers,
            Authenticator authenticator,
            ServerMetrics metrics)
            throws IOException {
        Readiness readiness = new Readiness();
        ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        metrics.connections("http", connections::size);
        Gate gate = new Gate(authenticator);
        Router router = Routes.router(config, gate, readiness, readers, metrics, connections);
        HttpService service = new HttpService(config, router, gate, readiness, new HttpMetrics(metrics));
        return new HttpServer(listen(config.address(), loops, service, connections), connections, service);
    }

    private static Channel listen(
            InetSocketAddress address, EventLoopGroup loops, HttpService service, ChannelGroup connections)
            throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .childHandler(new HttpInitializer(service, connections))
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + address.getHostString() + ":" + address.getPort() + ": "
                            + bound.cause().getMessage()
                            + "; is another server running? choose another address with --http",
                    bound.cause());
        }
        return bound.channel();
    }

    /** Where it listens, with the real port when 0 was asked for. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    /** Number of open connections. */
    int connections() {
        return connections.size();
    }

    List<Route> routes() {
        return service.router().routes();
    }

    /** From now on there are documents. */
    public void serve(DocumentService documents) {
        service.readiness().serve(documents);
    }

    /** Accepts no more connections and no more requests, ends live reads, and waits for the answers to the others. */
    public void drain(long timeoutNanos) {
        service.readiness().drain();
        listener.close().awaitUninterruptibly();
        connections.forEach(channel -> channel.eventLoop().execute(() -> {
            HttpConnection connection = channel.pipeline().get(HttpConnection.class);
            if (connection != null) {
                connection.drain();
            }
        }));
        connections.newCloseFuture().awaitUninterruptibly(timeoutNanos, TimeUnit.NANOSECONDS);
        connections.close().awaitUninterruptibly();
    }
}
