package io.caravan.server.cli.migration;

import io.caravan.server.cli.ServerJvm;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;

/** A Caravan server process that can be killed and restarted at the same address. */
final class Home implements AutoCloseable {
    private final ServerProcess server;

    /**
     * Starts the server in an empty directory.
     *
     * @param options the options of {@code serve}
     */
    Home(Path data, String... options) throws IOException {
        this.server = ServerJvm.start(data, options);
    }

    int port() {
        return server.port();
    }

    RespClient connect() throws IOException {
        return new RespClient(server.awaitAddress());
    }

    /** Sends one command over a separate connection. */
    String call(String... command) throws IOException {
        try (RespClient client = connect()) {
            return client.call(command);
        }
    }

    /** Sends SIGKILL to the server. */
    void kill() throws IOException {
        server.kill();
    }

    void startAgain() throws IOException {
        server.start();
        server.awaitReady();
    }

    void killAndStartAgain() throws IOException {
        kill();
        startAgain();
    }

    @Override
    public void close() {
        server.close();
    }
}
