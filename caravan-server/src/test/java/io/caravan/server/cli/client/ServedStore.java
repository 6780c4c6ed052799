package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.testing.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.UnaryOperator;
import redis.clients.jedis.Jedis;

/** An in-memory store with a server that can be stopped and restarted at the same port. */
public final class ServedStore implements AutoCloseable {
    private static final int MAX_VALUE_BYTES = 1024 * 1024;
    /** On a busy machine, a client may wait this long for a reply. */
    public static final int PATIENCE_MILLIS = 30_000;

    private static final int MAX_REQUEST_BYTES = 8 * 1024 * 1024;

    final ListStore store;
    private final UnaryOperator<ServerConfig> change;
    private Server server;
    /** A port that stays free while the server is stopped. */
    private final int port = FreePorts.next();

    public ServedStore() throws IOException {
        this(config -> config);
    }

    public ServedStore(UnaryOperator<ServerConfig> change) throws IOException {
        this(ListStore.inMemory(), change);
    }

    /** Serves this store, which is closed with the server. */
    public ServedStore(ListStore store, UnaryOperator<ServerConfig> change) throws IOException {
        this.store = store;
        this.change = change;
        start();
    }

    public void start() throws IOException {
        start(change);
    }

    private void start(UnaryOperator<ServerConfig> change) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        server = Server.start(
                store,
                change.apply(new ServerConfig(
                        address, new RespLimits(MAX_VALUE_BYTES, MAX_REQUEST_BYTES), Durability.MEMORY)));
    }

    /** Restarts the server with HTTP at this port. */
    public void start(int httpPort) throws IOException {
        start(config -> config.withHttp(HttpConfig.of(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), httpPort),
                MAX_VALUE_BYTES,
                4 * MAX_VALUE_BYTES)));
    }

    public void stop() {
        server.close();
    }

    /** Returns a client with a timeout for busy machines. */
    public Jedis jedis() {
        return new Jedis("127.0.0.1", port, PATIENCE_MILLIS);
    }

    /** Returns the lines of an export of all documents, with their checksums. */
    public List<String> exported() {
        CommandRun run = CommandRun.of(this, "export");
        assertThat(run.exitCode()).as(run.err()).isZero();
        return run.out()
                .lines()
                .filter(line -> !line.contains("\"type\":\"end\""))
                .sorted()
                .toList();
    }

    public String address() {
        return "127.0.0.1:" + port;
    }

    /** Returns the HTTP port, if the configuration has HTTP. */
    public String httpPort() {
        return String.valueOf(server.httpAddress().getPort());
    }

    @Override
    public void close() {
        stop();
        store.close();
    }
}
