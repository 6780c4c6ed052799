package io.caravan.server.app;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.Setting;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ReadBarrier;
import io.caravan.server.document.ReaderThread;
import io.caravan.server.document.StoreIdentity;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.metrics.DiskSpace;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.Statistics;
import io.caravan.server.net.Network;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.http.HttpProtocol;
import io.caravan.server.protocol.http.Routes;
import io.caravan.server.protocol.resp.RespProtocol;
import io.caravan.server.protocol.resp.ServerStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the documents of a store. The caller owns the store, and closes it after the server. */
public final class Server implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Server.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration READERS_TIMEOUT = Duration.ofSeconds(1);

    private final ServerConfig config;
    private final List<Setting> settings;
    private final Network network;
    private final ExecutorService readers;
    private final ServerMetrics metrics = new ServerMetrics();
    private final @Nullable Cluster cluster;
    private final @Nullable HttpProtocol http;
    private final @Nullable InetSocketAddress httpAddress;
    private @Nullable Backups backups;
    private @Nullable DocumentService documents;
    /** The empty store that a follower uses instead of the group's store; null on any other server. */
    private @Nullable ListStore empty;

    private @Nullable Archiver archiver;
    private @Nullable RestoreService restores;
    private @Nullable InetSocketAddress respAddress;

    /**
     * Creates a server of a cluster, or a single one, and listens for HTTP, if configured. Until {@link #serve}, HTTP
     * responses report that no documents are available yet. Operators can read the settings.
     */
    public Server(ServerConfig config, List<Setting> settings, @Nullable Cluster cluster) throws IOException {
        this.config = config;
        this.cluster = cluster;
        this.settings = List.copyOf(settings);
        this.network = new Network(config.network());
        metrics.register(network, config.authenticator());
        if (cluster != null) {
            metrics.register(Statistics.CLUSTER, () -> cluster);
        }
        this.readers = Executors.newFixedThreadPool(config.readers(), new ReaderThread.Factory());
        HttpConfig httpConfig = config.http();
        this.http = httpConfig == null
                ? null
                : new HttpProtocol(
                        httpConfig,
                        config.authenticator(),
                        metrics,
                        cluster,
                        readers,
                        Routes.all(config.network().transport()));
        try {
            httpAddress =
                    http == null || httpConfig == null ? null : network.listen(httpConfig.address(), "--http", http);
        } catch (Throwable problem) {
            stopThreads();
            throw problem;
        }
    }

    /** Starts a server for a store's documents. Throws {@link IOException} if it cannot listen on an address. */
    public static Server start(ListStore store, ServerConfig config) throws IOException {
        Server server = new Server(config, List.of(), null);
        try {
            server.serve(store, Backups.none());
        } catch (Throwable problem) {
            server.close();
            throw problem;
        }
        return server;
    }

    /**
     * Serves a store's documents over RESP and HTTP, and closes {@code backups} with the server. Call this once. Throws
     * {@link StoreDirectoryException} if the store is incomplete and nothing fetches missing documents, and {@link
     * ArchiveException} if the archive is known to belong to another store.
     */
    public void serve(ListStore store, Backups backups) throws IOException {
        requireWhole(store);
        this.backups = backups;
        DocumentService opened = open(store);
        DiskSpace disk = new DiskSpace(config.restore().data());
        metrics.register(opened, disk);
        ArchiveConfig archive = config.archive();
        rejectIdle(opened.spaces(), archive);
        if (archive != null) {
            startArchive(archive, opened, store);
        }
        RespProtocol resp = listen(opened, backups, disk);
        if (http != null) {
            http.serve(new HttpProtocol.Services(opened, archiver, restores, backups, resp::clients, settings));
        }
    }

    /** Redirects clients to the node that leads the cluster. Call this instead of {@link #serve}. */
    public void follow() throws IOException {
        // A follower redirects all requests, so none reaches this empty store.
        ListStore nothing = ListStore.inMemory(StoreConfig.builder(Path.of("follower"))
                .maxValueBytes(4 << 10)
                .logBufferBytes(16 << 10)
                .build());
        empty = nothing;
        listen(open(nothing), Backups.none(), new DiskSpace(config.restore().data()));
    }

    private DocumentService open(ListStore store) {
        DocumentService opened = new DocumentService(
                store,
                DocumentService.catalogOf(store),
                cluster == null ? DocumentDurability.of(config.durability()) : DocumentDurability.REPLICATED);
        documents = opened;
        opened.readBarrier(readBarrier());
        if (cluster != null && cluster.groups().size() > 1) {
            opened.keepTo(name -> cluster.owns(name.toBytes()));
        }
        return opened;
    }

    /** Returns the read barrier. It may wait for Raft locks, so it confirms leadership on a reader thread. */
    private ReadBarrier readBarrier() {
        Cluster confirming = cluster != null && cluster.linearizableReads() ? cluster : null;
        return confirming == null
                ? ReadBarrier.NONE
                : ReadBarrier.of(() -> CompletableFuture.supplyAsync(confirming::confirmLeadership, readers)
                        .thenCompose(confirmed -> confirmed));
    }

    private RespProtocol listen(DocumentService opened, Backups backups, DiskSpace disk) throws IOException {
        ServerStatus status = new ServerStatus(
                opened,
                network,
                config.durability(),
                config.limits().maxWordBytes(),
                archiver,
                disk,
                backups,
                cluster,
                httpAddress == null ? 0 : httpAddress.getPort(),
                System.nanoTime());
        RespProtocol resp =
                new RespProtocol(config.limits(), status, restores, readers, config.authenticator(), metrics);
        respAddress = network.listen(config.resp(), "--resp", resp);
        return resp;
    }

    /** Rejects an incomplete store: documents that exist only in the archive would count as deleted. */
    private void requireWhole(ListStore store) {
        boolean hydrates = config.archive() != null && config.restore().hydrate();
        if (!hydrates && StoreIdentity.incomplete(store)) {
            throw new StoreDirectoryException("the store lacks documents of the archive that it is being restored from:"
                    + " finish the restore (caravan restore --archive URL --data DIR; with --allow-missing, it"
                    + " goes without what cannot be restored), or serve it with"
                    + " --archive URL --archive-hydrate, which fetches what is missing when it is asked for");
        }
    }

    /** Rejects space settings that this server would not apply, so that operators do not rely on them. */
    private static void rejectIdle(Spaces spaces, @Nullable ArchiveConfig archive) {
        if (archive == null) {
            spaces.reject(
                    "the server has no archive; start it with --archive URL",
                    SpaceSetting.ARCHIVE_AFTER,
                    SpaceSetting.ARCHIVE_KEEP,
                    SpaceSetting.ARCHIVE_KEEP_DAYS,
                    SpaceSetting.ARCHIVE_KEEP_DAILY);
        } else if (archive.pruning() == null) {
            spaces.reject(
                    "the server removes nothing from its archive; start it without --archive-prune off",
                    SpaceSetting.ARCHIVE_KEEP,
                    SpaceSetting.ARCHIVE_KEEP_DAYS,
                    SpaceSetting.ARCHIVE_KEEP_DAILY);
        }
    }

    private void startArchive(ArchiveConfig archive, DocumentService opened, ListStore store) {
        Archiver archives = Archiver.start(opened, store, archive);
        archiver = archives;
        metrics.register(Statistics.ARCHIVE, archives::status);
        RestoreService started = new RestoreService(archives::readable, opened, config.restore(), config.readers());
        restores = started;
        metrics.register(started);
    }

    /** Whether the served store has failed for a reason other than a full disk. */
    boolean storeFailed() {
        CaravanException problem = documents == null ? null : documents.problem();
        return problem != null && !(problem instanceof OutOfSpaceException);
    }

    /** Returns the RESP address. Available only after {@link #serve}. */
    public InetSocketAddress respAddress() {
        return Objects.requireNonNull(respAddress);
    }

    /** Returns the HTTP address. Available only if HTTP is configured. */
    public InetSocketAddress httpAddress() {
        return Objects.requireNonNull(httpAddress);
    }

    public Network network() {
        return network;
    }

    /** Stops the server, with time limits that suffice for a healthy store. */
    @Override
    public void close() {
        stop(CLOSE_TIMEOUT, CLOSE_TIMEOUT);
    }

    /**
     * Stops accepting requests, replies to those already accepted, and closes the connections, at the latest after the
     * limit for clients. Abandons a backup. Then archives changed documents, if configured, within the limit for all.
     */
    public void stop(Duration connections, Duration all) {
        long deadline = System.nanoTime() + all.toNanos();
        drain(connections);
        finish(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
    }

    /** The first part of {@link #stop}: on return, no connections exist, and others can listen on the addresses. */
    void drain(Duration connections) {
        if (backups != null) {
            backups.close();
        }
        if (http != null) {
            http.drain();
        }
        network.drain(connections);
    }

    /** The second part of {@link #stop}: on return, the store is no longer in use. */
    void finish(Duration archive) {
        if (archiver != null && archiver.finishesOnStop()) {
            archiver.finish(archive);
        }
        stopThreads();
    }

    /** Stops all threads: the readers before the event loops, to which the readers pass their results. */
    private void stopThreads() {
        metrics.close();
        if (restores != null) {
            restores.close();
        }
        if (archiver != null) {
            archiver.close();
        }
        if (documents != null) {
            documents.close();
        }
        readers.shutdownNow();
        try {
            if (!readers.awaitTermination(READERS_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                LOG.warn("a read did not end in {}", READERS_TIMEOUT);
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        network.close();
        if (empty != null) {
            empty.close();
        }
    }
}
