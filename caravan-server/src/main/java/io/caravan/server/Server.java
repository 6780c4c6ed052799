package io.caravan.server;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.server.document.DocumentService;
import io.caravan.server.resp.RespServer;
import io.caravan.server.security.Authenticator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Serves the documents of a store, which stays its owner's: close it after the server. */
public final class Server implements AutoCloseable {
    /** The store's list that holds the catalog. */
    public static final long CATALOG_LIST_ID = 0;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    /** Event loops decide and encode; the flusher and the readers want cores as well. */
    private static final int LOOPS = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    /** Reads wait for the disk and for slow clients, so there may be more of them than cores. */
    private static final int READERS = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());

    private final EventLoopGroup loops =
            new MultiThreadIoEventLoopGroup(LOOPS, new DefaultThreadFactory("caravan-loop"), NioIoHandler.newFactory());
    private final ExecutorService readers =
            Executors.newFixedThreadPool(READERS, new DefaultThreadFactory("caravan-reader", true));
    private final DocumentService documents;
    private final RespServer resp;

    private Server(ListStore store, ServerConfig config) throws IOException {
        documents = new DocumentService(store, Catalog.open(store, CATALOG_LIST_ID));
        boolean started = false;
        try {
            ServerStatus status = new ServerStatus(
                    documents, new DefaultChannelGroup(GlobalEventExecutor.INSTANCE), config.durability());
            resp = RespServer.start(
                    config.resp(), config.limits(), loops, readers, documents, status, Authenticator.open());
            started = true;
        } finally {
            if (!started) {
                stopThreads();
            }
        }
    }

    /**
     * Starts to serve.
     *
     * @throws IOException when an address cannot be had
     */
    public static Server start(ListStore store, ServerConfig config) throws IOException {
        return new Server(store, config);
    }

    /** Where it listens for RESP. */
    public InetSocketAddress respAddress() {
        return resp.address();
    }

    /** Stops with a timeout that is enough for a healthy store. */
    @Override
    public void close() {
        stop(CLOSE_TIMEOUT);
    }

    /** Accepts nothing more, finishes what was accepted, tells the clients, and lets them go; those too slow, anyway. */
    public void stop(Duration timeout) {
        resp.drain(timeout.toNanos());
        stopThreads();
    }

    private void stopThreads() {
        documents.close();
        readers.shutdownNow();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
