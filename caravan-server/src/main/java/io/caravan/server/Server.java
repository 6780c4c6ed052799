package io.caravan.server;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.server.document.DocumentService;
import io.caravan.server.http.HttpConfig;
import io.caravan.server.http.HttpProtocol;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.StoreMetrics;
import io.caravan.server.net.Network;
import io.caravan.server.resp.RespProtocol;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the documents of a store, which stays its owner's: close it after the server. */
public final class Server implements AutoCloseable {
    /** The store's list that holds the catalog. */
    public static final long CATALOG_LIST_ID = 0;

    private static final Logger LOG = LoggerFactory.getLogger(Server.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration READERS_PATIENCE = Duration.ofSeconds(1);

    private final Network network;
    private final ExecutorService readers;
    private final DocumentService documents;
    private final ServerMetrics metrics = new ServerMetrics();
    private final InetSocketAddress respAddress;
    private final @Nullable HttpProtocol http;
    private final @Nullable InetSocketAddress httpAddress;

    private Server(ListStore store, ServerConfig config) throws IOException {
        documents = new DocumentService(store, Catalog.open(store, CATALOG_LIST_ID));
        network = new Network(config.network());
        readers = Executors.newFixedThreadPool(config.readers(), new DefaultThreadFactory("caravan-reader", true));
        boolean started = false;
        try {
            ServerStatus status = new ServerStatus(documents, network, config.durability());
            respAddress = network.listen(
                    config.resp(),
                    "--resp",
                    new RespProtocol(config.limits(), documents, status, readers, config.authenticator()));
            HttpConfig httpConfig = config.http();
            http = httpConfig == null ? null : new HttpProtocol(httpConfig, readers, config.authenticator(), metrics);
            httpAddress = http == null || httpConfig == null ? null : listen(httpConfig, http);
            started = true;
        } finally {
            if (!started) {
                stopThreads();
            }
        }
    }

    private InetSocketAddress listen(HttpConfig config, HttpProtocol protocol) throws IOException {
        InetSocketAddress address = network.listen(config.address(), "--http", protocol);
        StoreMetrics.register(metrics, documents::stats, documents::documents);
        protocol.serve(documents);
        return address;
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
        return respAddress;
    }

    /** Where it listens for HTTP, if it does. */
    public @Nullable InetSocketAddress httpAddress() {
        return httpAddress;
    }

    /** What all listeners share. */
    Network network() {
        return network;
    }

    /** Stops with a timeout that is enough for a healthy store. */
    @Override
    public void close() {
        stop(CLOSE_TIMEOUT);
    }

    /** Accepts nothing more, finishes what was accepted, tells the clients, and lets them go; those too slow, anyway. */
    public void stop(Duration timeout) {
        if (http != null) {
            http.drain();
        }
        network.drain(timeout);
        stopThreads();
    }

    private void stopThreads() {
        metrics.close();
        documents.close();
        readers.shutdownNow();
        awaitReaders();
        network.close();
    }

    /** They tell event loops when they are done, which must then still be there. */
    private void awaitReaders() {
        try {
            if (!readers.awaitTermination(READERS_PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                LOG.warn("a read did not end in {}", READERS_PATIENCE);
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }
}
