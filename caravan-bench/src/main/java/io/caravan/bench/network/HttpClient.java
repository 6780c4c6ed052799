package io.caravan.bench.network;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Connections to one server, all on one event loop: on a small machine, every client thread takes a core from the
 * server.
 */
final class HttpClient implements AutoCloseable {
    /** Description for a table's notes. */
    static final String DESCRIPTION = "one thread of Netty, connections kept alive";

    private static final int THREADS = 1;
    private static final long QUIET_MILLIS = 0;
    private static final long CLOSE_MILLIS = 5_000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(THREADS, NioIoHandler.newFactory());
    private final InetSocketAddress server;
    private final List<HttpLink> links = new ArrayList<>();

    HttpClient(InetSocketAddress server) {
        this.server = server;
    }

    /** Opens another connection. Do not call it on the event loop. */
    HttpLink connect() throws IOException {
        HttpLink link = HttpLink.connect(loops, server);
        links.add(link);
        return link;
    }

    List<HttpLink> connect(int count) throws IOException {
        List<HttpLink> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(connect());
        }
        return made;
    }

    /** Closes all connections and stops the thread. */
    @Override
    public void close() {
        links.forEach(HttpLink::close);
        loops.shutdownGracefully(QUIET_MILLIS, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly();
    }
}
