package io.caravan.server;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.FlushPolicy;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.server.http.HttpConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Opens a store and serves it until the process is told to stop. */
@Command(
        name = "serve",
        description = "Serves a store over RESP, the protocol of Redis, and over HTTP, until SIGTERM or SIGINT.",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ServeCommand implements Callable<Integer> {
    /** The catalog's own entries must always fit. */
    private static final long MIN_VALUE_BYTES = 64 * 1024;

    private static final long MAX_VALUE_BYTES = 32 * 1024 * 1024;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", defaultValue = "data", description = "The store's directory.")
    private Path data;

    @Option(
            names = "--resp",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:6380",
            converter = HostPort.Converter.class,
            description = "Where to listen for RESP; port 0 is any that is free.")
    private HostPort resp;

    @Option(
            names = "--http",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:4437",
            converter = HostPort.Converter.class,
            description = "Where to listen for HTTP; port 0 is any that is free.")
    private HostPort http;

    @Option(
            names = "--durability",
            paramLabel = "LEVEL",
            defaultValue = "sync",
            description = "What has happened to a change before it is answered: sync (forced to the disk), process"
                    + " (handed to the operating system), none (in memory).")
    private Durability durability;

    @Option(
            names = "--flush-policy",
            paramLabel = "POLICY",
            converter = Quantities.Policy.class,
            defaultValue = "immediate",
            description =
                    "How long changes gather before they are forced together: immediate, adaptive, or a delay such"
                            + " as 2ms.")
    private FlushPolicy flushPolicy;

    @Option(
            names = "--max-value",
            paramLabel = "SIZE",
            defaultValue = "1MiB",
            converter = Quantities.Bytes.class,
            description = "Greatest length of one value, from 64KiB to 32MiB.")
    private long maxValueBytes;

    @Option(
            names = "--checkpoint-floor",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = Quantities.Bytes.class,
            description = "Least log between two checkpoints: less makes a start after a crash quicker and the log"
                    + " shorter, more makes checkpoints rarer.")
    private long checkpointFloorBytes;

    @Option(
            names = "--insecure",
            description = "Listen on an address that other machines can reach. Nobody is asked for a password.")
    private boolean insecure;

    @Override
    public Integer call() throws IOException {
        InetSocketAddress address = resp.resolve();
        InetSocketAddress httpAddress = http.resolve();
        checkReach("--resp", address);
        checkReach("--http", httpAddress);
        check(
                maxValueBytes >= MIN_VALUE_BYTES && maxValueBytes <= MAX_VALUE_BYTES,
                "--max-value must be from 64KiB to 32MiB");
        StoreConfig config = StoreConfig.builder(data)
                .durability(durability)
                .flushPolicy(flushPolicy)
                .maxValueBytes((int) maxValueBytes)
                .checkpointFloorBytes(checkpointFloorBytes)
                .build();
        serve(config, address, HttpConfig.of(httpAddress, config.maxValueBytes()));
        return CommandLine.ExitCode.OK;
    }

    private void checkReach(String option, InetSocketAddress address) {
        check(
                insecure || address.getAddress().isLoopbackAddress(),
                option + " " + HostPort.format(address)
                        + " can be reached from other machines, and nobody would be asked"
                        + " for a password; use a loopback address, or --insecure if the network is trusted");
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    private void serve(StoreConfig config, InetSocketAddress address, HttpConfig httpConfig) throws IOException {
        ListStore store = DurableListStore.open(config);
        Server server;
        try {
            server = Server.start(store, ServerConfig.of(address, config), httpConfig);
        } catch (IOException | RuntimeException notStarted) {
            store.close();
            throw notStarted;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(new Shutdown(server, store), "caravan-shutdown"));
        announce(config, server);
        awaitShutdown();
    }

    private void announce(StoreConfig config, Server server) {
        PrintWriter out = spec.commandLine().getOut();
        out.println("caravan serves RESP on " + HostPort.format(server.respAddress()) + ", HTTP on "
                + HostPort.format(server.httpAddress()) + ", data in "
                + config.directory().toAbsolutePath().normalize() + ", durability "
                + config.durability().name().toLowerCase(Locale.ROOT) + ": " + meaning(config.durability()));
        out.flush();
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
