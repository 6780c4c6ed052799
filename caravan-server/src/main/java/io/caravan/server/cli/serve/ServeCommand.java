package io.caravan.server.cli.serve;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.Shutdown;
import io.caravan.server.app.WarmUp;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.cli.common.VersionProvider;
import io.caravan.server.config.FileWatch;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.Settings;
import io.caravan.server.document.Backups;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.security.Authenticator;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** Opens a store and serves it until the process is told to stop. */
@Command(
        name = "serve",
        description = "Serves a store over RESP, the protocol of Redis, and over HTTP, until SIGTERM or SIGINT.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        showDefaultValues = true,
        sortOptions = false,
        abbreviateSynopsis = true,
        footer = {
            "",
            "Every option can also be set in the environment (--max-value as CARAVAN_MAX_VALUE) or in the file of"
                    + " --config (max-value = 2MiB). The command line overrides the environment, which overrides the"
                    + " file.",
            "",
            "Examples:",
            "  caravan serve",
            "      on this machine only, with the data in ./data",
            "  caravan serve --resp 0.0.0.0:6380 --auth-file users \\",
            "      --tls-cert cert.pem --tls-key key.pem",
            "      for other machines, with secrets and over TLS",
            "  CARAVAN_DATA=/var/lib/caravan caravan serve --print-config",
            "      shows what would be in force, and why",
            "",
            "Exit codes: 0 stopped cleanly; 1 could not start, or not stop cleanly; 2 wrong usage."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ServeCommand extends SettingsCommand implements Callable<Integer> {
    private final List<FileWatch> watches = new ArrayList<>();

    public ServeCommand(Settings settings) {
        super(settings);
    }

    @Override
    public Integer call() throws IOException {
        if (processOptions.printConfig()) {
            SettingsTable.print(
                    spec.commandLine().getParseResult(),
                    settings,
                    spec.commandLine().getOut());
            return CommandLine.ExitCode.OK;
        }
        processOptions.setUpLog();
        StoreConfig store;
        ServerConfig config;
        try {
            store = storeOptions.config();
            config = serverConfig(store);
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
        serve(store, config);
        return CommandLine.ExitCode.OK;
    }

    /** Checks all settings, before anything is opened. */
    private ServerConfig serverConfig(StoreConfig store) throws IOException {
        processOptions.stopTimeout();
        storeOptions.backupDirectory();
        Authenticator authenticator = securityOptions.authenticator(settings.environment(), this::watch);
        InetSocketAddress resp = listenOptions.resp();
        listenOptions.checkReach("--resp", resp, authenticator.required());
        InetSocketAddress http = listenOptions.http();
        listenOptions.checkReach("--http", http, authenticator.required());
        NetworkConfig network = listenOptions.network(limitOptions.network(store), securityOptions.tls(this::watch));
        return new ServerConfig(
                resp,
                securityOptions.allow(HttpConfig.of(http, store.maxValueBytes(), store.logBufferBytes())),
                limitOptions.resp(store),
                store.durability(),
                network,
                authenticator,
                listenOptions.readers(),
                archiveOptions.config(store.directory()),
                archiveOptions.restore(store));
    }

    private void watch(FileWatch.Reloadable files) {
        watches.add(new FileWatch(files));
    }

    private void serve(StoreConfig config, ServerConfig serverConfig) throws IOException {
        Server server =
                new Server(serverConfig, SettingsTable.rows(spec.commandLine().getParseResult(), settings));
        ListStore store = open(config, server);
        startWatches();
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(new Shutdown(server, store, processOptions.stopTimeout()), "caravan-shutdown"));
        announce(config, server);
        logSettings(serverConfig);
        awaitShutdown();
    }

    /** Opens the store while the server already tells how it stands, and has it serve the store. */
    private ListStore open(StoreConfig config, Server server) throws IOException {
        CompletableFuture<Void> warmUp = CompletableFuture.runAsync(
                () -> WarmUp.run(server.network().config().transport(), Path.of(System.getProperty("java.io.tmpdir"))));
        DurableListStore store = null;
        boolean serving = false;
        try {
            store = DurableListStore.open(config);
            warmUp.join();
            server.serve(store, Backups.of(store::backup, storeOptions.backupDirectory()));
            serving = true;
            return store;
        } finally {
            if (!serving) {
                server.close();
                if (store != null) {
                    store.close();
                }
            }
        }
    }

    private void startWatches() {
        if (!watches.isEmpty()) {
            ScheduledExecutorService scheduler =
                    Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-watch", true));
            watches.forEach(watch -> watch.start(scheduler));
        }
    }

    private void announce(StoreConfig config, Server server) {
        PrintWriter out = spec.commandLine().getOut();
        out.println("caravan serves RESP on " + HostPort.format(server.respAddress()) + ", HTTP on "
                + HostPort.format(server.httpAddress()) + ", data in "
                + config.directory().toAbsolutePath().normalize() + ", durability "
                + config.durability().name().toLowerCase(Locale.ROOT) + ": " + meaning(config.durability()));
        out.flush();
    }

    /** The logger is made here, after the log's format has been set. */
    private static void logSettings(ServerConfig config) {
        Logger log = LoggerFactory.getLogger(ServeCommand.class);
        boolean tls = config.network().tls() != null;
        boolean authenticated = config.authenticator().required();
        log.info(
                "serving by {}, event loops: {}, readers: {}, TLS: {}, authentication: {}",
                config.network().transport().label(),
                config.network().loops(),
                config.readers(),
                tls ? "yes" : "no",
                authenticated ? "yes" : "no");
        ArchiveConfig archive = config.archive();
        log.info("archive: {}", archive == null ? "none" : archive.location() + ", within " + archive.after());
        if (config.reachable() && authenticated && !tls) {
            log.warn("secrets cross the network in plain text: use --tls-cert and --tls-key");
        }
    }

    private static String meaning(Durability level) {
        return switch (level) {
            case SYNC -> "an answered change is on the disk";
            case PROCESS -> "WARNING: an answered change is LOST when the machine stops, by a crash or a power loss";
            case NONE -> "WARNING: an answered change is LOST when this process is killed";
        };
    }

    /** The shutdown hook ends the process. */
    private static void awaitShutdown() {
        while (true) {
            try {
                Thread.currentThread().join();
            } catch (InterruptedException ignored) {
                // Nobody interrupts the main thread to stop the server.
            }
        }
    }
}
