package io.caravan.bench.replay;

import io.caravan.bench.ChildJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The Caravan server in a process of ours, always on the same port and data. */
final class ServerProcess {
    private static final String SERVER_MAIN = "io.caravan.server.Main";

    private final Path data;
    private final Path log;
    private final InetSocketAddress address;
    private @Nullable ChildJvm child;

    ServerProcess(Path data, Path log) throws IOException {
        this.data = data;
        this.log = log;
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    InetSocketAddress address() {
        return address;
    }

    Path log() {
        return log;
    }

    /** Starts the process if it is not running. */
    void start() throws IOException {
        if (child == null) {
            String listen = address.getAddress().getHostAddress() + ":" + address.getPort();
            child = ChildJvm.start(SERVER_MAIN, List.of("serve", "--data", data.toString(), "--resp", listen), log);
        }
    }

    boolean alive() {
        return child != null && child.alive();
    }

    /** Sends SIGKILL and checks that this is what it died of. */
    void kill() throws IOException {
        int status = running().kill();
        child = null;
        if (status != ChildJvm.KILLED) {
            throw new IOException("the server ended with status " + status + " before it was killed; see " + log);
        }
    }

    /** Sends SIGTERM and waits for the end. */
    void terminate() throws IOException {
        running().terminate();
        running().awaitExit();
        child = null;
    }

    void close() {
        if (child != null) {
            child.close();
        }
    }

    private ChildJvm running() {
        if (child == null) {
            throw new IllegalStateException("the server is not running");
        }
        return child;
    }
}
