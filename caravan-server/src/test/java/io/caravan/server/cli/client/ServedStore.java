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

/** A store in memory and a server over it, which can be stopped and started again at the same port. */
public final class ServedStore implements AutoCloseable {
    private static final int MAX_VALUE_BYTES = 1024 * 1024;
    /** A busy machine may leave a client without an answer for as long. */
    public static final int PATIENCE_MILLIS = 30_000;

    private static final int MAX_REQUEST_BYTES = 8 * 1024 * 1024;

    final ListStore store;
    private final UnaryOperator<ServerConfig> change;
    private Server server;
    /** One that stays free while the server is stopped. */
    private final int port = FreePorts.next();

    public ServedStore() throws IOException {
        this(config -> config);
    }

    public ServedStore(UnaryOperator<ServerConfig> change) throws IOException {
        this(ListStore.inMemory(), change);
    }

    /** Serves this store, and closes it at the end. */
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
                        address, new RespLimits(MAX_VALUE_BYTES, MAX_REQUEST_BYTES), Durability.NONE)));
    }

    /** Starts again, with HTTP at the port that it had. */
    public void start(int httpPort) throws IOException {
        start(config -> config.withHttp(HttpConfig.of(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), httpPort),
                MAX_VALUE_BYTES,
                4 * MAX_VALUE_BYTES)));
    }

    public void stop() {
        server.close();
    }

    /** A client of it, as patient as a busy machine needs. */
    public Jedis jedis() {
        return new Jedis("127.0.0.1", port, PATIENCE_MILLIS);
    }

    /** As a file has them: whatever documents are, with sums of them. */
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

    /** Where it serves HTTP, if its config says so. */
    public String httpPort() {
        return String.valueOf(server.httpAddress().getPort());
    }

    @Override
    public void close() {
        stop();
        store.close();
    }
}
