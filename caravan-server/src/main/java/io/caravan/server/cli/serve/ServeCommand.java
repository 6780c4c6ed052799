package io.caravan.server.cli.serve;

import io.caravan.Durability;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import io.caravan.cluster.GroupConfig;
import io.caravan.server.app.ClusterServer;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.Shutdown;
import io.caravan.server.app.WarmUp;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.backup.Backups;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.doctor.MachineChecks;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.Quantities;
import io.caravan.server.config.Setting;
import io.caravan.server.config.Settings;
import io.caravan.server.net.FatalErrors;
import io.caravan.server.net.Network;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.Tls;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.security.Authenticator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;

@Command(
        name = "serve",
        description = {
            "Serves a store over RESP, the protocol of Redis, and over HTTP, until SIGTERM or SIGINT.",
            "Every option can also be set in the environment (--max-value as CARAVAN_MAX_VALUE) or in the file of"
                    + " --config (max-value = 2MiB). The command line overrides the environment, which overrides the"
                    + " file."
        },
        exitCodeList = {
            "0:the server stopped cleanly",
            "1:the server could not start, did not stop cleanly, or is a cluster node that could not continue",
            "2:usage error, or a wrong setting",
            "3:fatal error: the JVM heap is exhausted, the JVM has failed, or an event loop has ended"
        },
        footer = {
            "  caravan serve",
            "      on this machine only, with the data in ./data",
            "  caravan serve --resp 0.0.0.0:6380 --auth-file users \\",
            "      --tls-cert cert.pem --tls-key key.pem",
            "      for other machines, with secrets and over TLS",
            "  CARAVAN_DATA=/var/lib/caravan caravan serve --print-config",
            "      shows the effective settings and their sources",
            "  caravan serve --cluster-file cluster.properties --cluster-node a --cluster-create",
            "      as a node of a new cluster, see 'caravan cluster --help'"
        })
public final class ServeCommand extends SettingsCommand {
    private static final String ROW = "%-20s  %-24s  %s";

    private boolean served;

    /** Contains the logger, which may be created only after the log format has been set. */
    private static final class Log {
        static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);
    }

    public ServeCommand(Settings settings) {
        super(settings);
    }

    /** Whether the command has served, or tried to serve, instead of only printing its settings. */
    public boolean served() {
        return served;
    }

    @Override
    protected void run(Output output) throws IOException {
        if (processOptions.printConfig()) {
            for (Setting row : settings()) {
                output.line(String.format(Locale.ROOT, ROW, row.name(), row.value(), row.source()));
            }
            return;
        }
        served = true;
        processOptions.setUpLog();
        if (checked(clusterOptions::alone)) {
            serveAlone();
        } else {
            serveInCluster();
        }
    }

    private void serveAlone() throws IOException {
        StoreConfig store = checked(storeOptions::config);
        int shards = checked(storeOptions::groups);
        ServerConfig config = checked(() -> serverConfig(store, listenOptions.resp(), listenOptions.http(), null));
        Server server = new Server(config, settings(), null);
        Shards opened = open(store, shards, server, config);
        Shutdown.Work work = (connections, all) -> {
            server.stop(connections, all);
            // Unlike close(), this throws if the store has failed.
            opened.store().flush();
            opened.store().close();
        };
        stopWith(new Shutdown(work, processOptions.stopTimeout()));
        say("caravan serves RESP on " + HostPort.format(server.respAddress()) + ", HTTP on "
                + HostPort.format(server.httpAddress()) + ", data in "
                + store.directory().toAbsolutePath().normalize() + (shards == 1 ? "" : " in " + shards + " groups")
                + ", durability " + store.durability().name().toLowerCase(Locale.ROOT) + ": "
                + meaning(store.durability()));
        logSettings(config);
        // The shutdown hook ends the process.
        stopped(new CountDownLatch(1), Long.MAX_VALUE);
    }

    /** Opens the store while the server already responds to status requests, then starts to serve the store. */
    private Shards open(StoreConfig config, int shards, Server server, ServerConfig serverConfig) throws IOException {
        Log.LOG.info("opening the store in '{}'", config.directory());
        CompletableFuture<Void> warmUp = warmUp(serverConfig);
        Shards store = null;
        try {
            store = Shards.open(config, shards);
            warmUp.join();
            server.serve(store.store(), Backups.of(store::backup, storeOptions.backupDirectory()));
            return store;
        } catch (Throwable problem) {
            server.close();
            if (store != null) {
                store.close();
            }
            throw problem;
        }
    }

    private void serveInCluster() throws IOException {
        StoreConfig replica = checked(storeOptions::replica);
        Cluster cluster = checked(() -> clusterOptions.cluster(securityOptions.usesTls()));
        GroupConfig group = checked(() -> clusterOptions.group(cluster, storeOptions.data(), replica));
        ServerConfig config = checked(() -> {
            listenOptions.checkPeers(cluster.self().peer().resolve(), group.tls() != null);
            return serverConfig(
                    replica,
                    cluster.self().resp().resolve(),
                    cluster.self().http().resolve(),
                    cluster);
        });
        warmUp(config).join();
        Log.LOG.info("opening the replica and the Raft log in '{}'", storeOptions.data());
        ClusterServer node = ClusterServer.start(group, config, settings(), cluster, storeOptions.backupDirectory());
        Shutdown shutdown = new Shutdown(node::stop, processOptions.stopTimeout());
        stopWith(shutdown);
        say("caravan is node " + cluster.self().id() + " of "
                + (cluster.groups().size() == 1
                        ? ""
                        : "the slots " + cluster.group().slots() + ", ") + "cluster "
                + cluster.id() + ", RESP on "
                + cluster.self().resp() + ", HTTP on " + cluster.self().http() + ", data in "
                + storeOptions.data().toAbsolutePath().normalize()
                + ": "
                + (group.start() == GroupConfig.Start.JOIN
                        ? "waits for 'caravan cluster add' or 'replace'"
                        : "an acknowledged write is on the disks of a majority"));
        logSettings(config);
        try {
            node.awaitFailure();
            Log.LOG.error(
                    node.removed()
                            ? "the node stops, because it was removed from its cluster: do not start it again with"
                                    + " its files"
                            : "the node stops, because it cannot continue: start it again");
        } finally {
            shutdown.failed();
        }
    }

    /** Validates all settings, checks that the addresses are free and distinct, and returns the configuration. */
    private ServerConfig serverConfig(
            StoreConfig store, InetSocketAddress resp, InetSocketAddress http, @Nullable Cluster cluster)
            throws IOException {
        processOptions.stopTimeout();
        storeOptions.backupDirectory();
        Authenticator authenticator = securityOptions.authenticator(settings.environment());
        authenticator.watch();
        listenOptions.checkReach("--resp", resp, authenticator.required());
        listenOptions.checkReach("--http", http, authenticator.required());
        Tls tls = securityOptions.tls();
        if (tls != null) {
            tls.watch();
        }
        NetworkConfig network = listenOptions.network(
                withinOpenFiles(limitOptions.network(store), new MachineChecks(Path.of("/")).openFiles()), tls);
        requireFree(resp, http, cluster);
        return new ServerConfig(
                resp,
                securityOptions.allow(HttpConfig.of(http, store.maxValueBytes(), store.logBufferBytes())
                        .withHeartbeat(limitOptions.heartbeat())),
                ServerConfig.respLimits(store),
                storeOptions.durability(),
                network,
                authenticator,
                listenOptions.readers(),
                archiveOptions.config(storeOptions.data(), cluster),
                archiveOptions.restore(store));
    }

    private static void requireFree(InetSocketAddress resp, InetSocketAddress http, @Nullable Cluster cluster)
            throws IOException {
        String file = "--cluster-file";
        try (ServerSocket first = Network.occupy(resp, cluster == null ? "--resp" : file);
                ServerSocket second = Network.occupy(http, cluster == null ? "--http" : file)) {
            if (cluster != null) {
                Network.occupy(cluster.self().peer().resolve(), file).close();
            }
        }
    }

    /** Lowers the connection limit to reserve the open files that the store needs; excess clients are rejected. */
    static NetworkLimits withinOpenFiles(NetworkLimits limits, long openFiles) {
        Quantities.check(
                openFiles >= MachineChecks.LEAST_FILES,
                "this process may open " + openFiles + " files only, and a server needs " + MachineChecks.LEAST_FILES
                        + " or more: set LimitNOFILE in the systemd unit, or use ulimit -n");
        long connections = MachineChecks.connectionsWithin(openFiles);
        if (limits.maxConnections() <= connections) {
            return limits;
        }
        Log.LOG.warn(
                "--max-connections is lowered from {} to {}, because this process may open {} files only: set"
                        + " LimitNOFILE={} in the systemd unit, or use ulimit -n",
                limits.maxConnections(),
                connections,
                openFiles,
                MachineChecks.filesFor(limits.maxConnections()));
        return limits.withConnections((int) connections);
    }

    private void stopWith(Shutdown shutdown) {
        FatalErrors.haltProcess();
        Runtime.getRuntime().addShutdownHook(new Thread(shutdown, "caravan-shutdown"));
    }

    private static CompletableFuture<Void> warmUp(ServerConfig config) {
        return CompletableFuture.runAsync(
                () -> WarmUp.run(config.network().transport(), Path.of(System.getProperty("java.io.tmpdir"))));
    }

    private static void logSettings(ServerConfig config) {
        boolean tls = config.network().tls() != null;
        boolean authenticated = config.authenticator().required();
        Log.LOG.info(
                "serving by {}, event loops: {}, readers: {}, TLS: {}, authentication: {}",
                config.network().transport().label(),
                config.network().loops(),
                config.readers(),
                tls ? "yes" : "no",
                authenticated ? "yes" : "no");
        ArchiveConfig archive = config.archive();
        Log.LOG.info("archive: {}", archive == null ? "none" : archive.location() + ", within " + archive.after());
        if (config.reachable() && authenticated && !tls) {
            Log.LOG.warn("secrets cross the network in plain text: use --tls-cert and --tls-key");
        }
    }

    private static String meaning(Durability level) {
        return switch (level) {
            case SYNC -> "an acknowledged write is on the disk";
            case PROCESS -> "WARNING: an acknowledged write is LOST if the machine crashes or loses power";
            case MEMORY -> "WARNING: an acknowledged write is LOST if this process is killed";
        };
    }
}
