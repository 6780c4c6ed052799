package io.caravan.server.cli.carry;

import io.caravan.server.cli.ServerProcess;
import io.caravan.server.protocol.resp.RespClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A place where documents may be: a server that can be killed, and is then started again at the same address. */
final class Home implements AutoCloseable {
    private final String[] options;
    private Path data;
    private ServerProcess server;

    /**
     * Starts the server on an empty directory.
     *
     * @param options of {@code serve}
     */
    Home(Path data, String... options) throws IOException {
        this.data = data;
        this.options = options;
        this.server = ServerProcess.start(data, List.of(), Map.of(), ProcessBuilder.Redirect.INHERIT, options);
    }

    int port() {
        return server.port();
    }

    RespClient connect() throws IOException {
        return server.connect();
    }

    /** Calls one command over a connection of its own. */
    String call(String... command) throws IOException {
        try (RespClient client = connect()) {
            return client.call(command);
        }
    }

    /** {@code kill -9}, and then what takes the place of its disk. */
    void loseHost(Path found) throws IOException, InterruptedException {
        server.kill();
        data = found;
    }

    /** {@code kill -9}. */
    void kill() throws IOException, InterruptedException {
        loseHost(data);
    }

    void startAgain() throws IOException {
        server = ServerProcess.startAgain(data, server, options);
    }

    void killAndStartAgain() throws IOException, InterruptedException {
        kill();
        startAgain();
    }

    @Override
    public void close() {
        server.close();
    }
}
