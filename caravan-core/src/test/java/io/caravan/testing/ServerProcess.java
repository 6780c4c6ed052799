package io.caravan.testing;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The Caravan server in a child process, on loopback ports that stay the same after a restart. */
public final class ServerProcess implements AutoCloseable {
    /** The main class of the server. */
    public static final String MAIN = "io.caravan.server.cli.Main";

    private static final String HOST = "127.0.0.1";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long POLL_NANOS = 5_000_000;

    private final String mainClass;
    private final Path data;
    private final Path log;
    private final List<String> options;
    private final Map<String, String> environment;
    private final int port = FreePorts.next();
    private final int httpPort = FreePorts.next();
    private List<String> flags = ChildJvm.FLAGS;
    private @Nullable ChildJvm child;

    public ServerProcess(Path data, Path log) {
        this(MAIN, data, log, List.of(), Map.of());
    }

    /**
     * Describes a server without starting it.
     *
     * @param mainClass a main class that accepts the arguments of {@link #MAIN}
     * @param log receives its output
     * @param options options of the {@code serve} command, in addition to those for data and addresses
     * @param environment variables in addition to those of this program; without an archive in these or in the options,
     * the server has none
     */
    public ServerProcess(String mainClass, Path data, Path log, List<String> options, Map<String, String> environment) {
        this.mainClass = mainClass;
        this.data = data;
        this.log = log;
        this.options = List.copyOf(options);
        this.environment = Map.copyOf(environment);
    }

    /** Replaces {@link ChildJvm#FLAGS}. A server whose speed is measured gets no flags. */
    public ServerProcess withFlags(List<String> replacement) {
        flags = List.copyOf(replacement);
        return this;
    }

    /** Starts the process if it is not running. */
    public void start() throws IOException {
        if (child == null || !child.alive()) {
            List<String> arguments = new ArrayList<>(List.of("serve", "--data", data.toString()));
            arguments.addAll(List.of("--resp", HOST + ":" + port, "--http", HOST + ":" + httpPort));
            arguments.addAll(options);
            // The test deletes the data, but would leave an archive next to it.
            Map<String, String> variables = new HashMap<>(Map.of("CARAVAN_ARCHIVE", "none"));
            variables.putAll(environment);
            child = ChildJvm.start(flags, mainClass, arguments, variables, log);
        }
    }

    /** Waits until the server listens and returns its RESP address. */
    public InetSocketAddress awaitAddress() throws IOException {
        awaitReady();
        return new InetSocketAddress(HOST, port);
    }

    /** Waits until the server listens and returns its HTTP address. */
    public InetSocketAddress awaitHttpAddress() throws IOException {
        awaitReady();
        return new InetSocketAddress(HOST, httpPort);
    }

    /** Waits until the server listens. */
    public void awaitReady() throws IOException {
        ChildJvm server = running();
        String announcement = "caravan serves RESP on " + HOST + ":" + port + ",";
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (System.nanoTime() < deadline) {
            boolean alive = server.alive();
            if (server.output().contains(announcement)) {
                return;
            }
            if (!alive) {
                throw new IOException("the server exited before it was ready: " + server.output());
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        throw new IOException("the server was not ready within " + TIMEOUT.toSeconds() + " s: " + server.output());
    }

    /** Returns the RESP port. */
    public int port() {
        return port;
    }

    public int httpPort() {
        return httpPort;
    }

    /** Sends SIGKILL and returns the exit status: {@link ChildJvm#KILLED} unless the server had already exited. */
    public int kill() throws IOException {
        return running().kill();
    }

    /** Sends SIGTERM, waits for the exit, and returns the exit status. */
    public int terminate() throws IOException {
        running().terminate();
        return awaitExit();
    }

    /** Waits for the server to exit by itself and returns the exit status. */
    public int awaitExit() throws IOException {
        return running().awaitExit();
    }

    /** Sends SIGSTOP. */
    public void pause() throws IOException {
        running().pause();
    }

    /** Sends SIGCONT. */
    public void resume() throws IOException {
        running().resume();
    }

    /** Returns what the process has printed since its last start. */
    public String output() throws IOException {
        return running().output();
    }

    /** Makes the server dump its threads; see {@link ChildJvm#explainIfAlive()}. */
    public void explainIfAlive() {
        if (child != null) {
            child.explainIfAlive();
        }
    }

    /** Kills the process if it is still running. */
    @Override
    public void close() {
        if (child != null) {
            child.close();
        }
    }

    private ChildJvm running() {
        if (child == null) {
            throw new IllegalStateException("the server was not started");
        }
        return child;
    }
}
