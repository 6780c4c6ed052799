package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.Tls;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.resp.RespLimits;
import io.caravan.testing.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import redis.clients.jedis.Jedis;

/** An in-memory store with a server that can be stopped and restarted on the same port. */
public final class ServedStore implements AutoCloseable {
    private static final int MAX_VALUE_BYTES = 1024 * 1024;
    /** The timeout for replies, which is long enough for a busy machine. */
    public static final int TIMEOUT_MILLIS = 30_000;

    private static final int MAX_REQUEST_BYTES = 8 * 1024 * 1024;

    public final ListStore store;
    private final UnaryOperator<ServerConfig> change;
    private Server server;
    /** A port that stays free while the server is stopped. */
    private final int port = FreePorts.next();

    public ServedStore() {
        this(config -> config);
    }

    public ServedStore(UnaryOperator<ServerConfig> change) {
        this(ListStore.inMemory(), change);
    }

    /** Serves this store. Closing this object also closes the store. */
    public ServedStore(ListStore store, UnaryOperator<ServerConfig> change) {
        this.store = store;
        this.change = change;
        start();
    }

    /** Serves RESP and HTTP over TLS. */
    public static ServedStore overTls(Tls tls) {
        return new ServedStore(config -> config.withNetwork(new NetworkConfig(
                        config.network().transport(), 1, config.network().limits(), tls))
                .withHttp(http()));
    }

    public void start() {
        start(change);
    }

    private void start(UnaryOperator<ServerConfig> change) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        ServerConfig config =
                new ServerConfig(address, new RespLimits(MAX_VALUE_BYTES, MAX_REQUEST_BYTES), Durability.MEMORY);
        try {
            server = Server.start(store, change.apply(config));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Restarts the server with HTTP on this port. */
    public void start(int httpPort) {
        start(config -> config.withHttp(http(httpPort)));
    }

    /** Returns an HTTP configuration with a free port. */
    public static HttpConfig http() {
        return http(0);
    }

    private static HttpConfig http(int port) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        return HttpConfig.of(address, MAX_VALUE_BYTES, 4 * MAX_VALUE_BYTES);
    }

    /** Returns the HTTP URL of the server. */
    public String url() {
        return "http://127.0.0.1:" + httpPort();
    }

    /** Sends an HTTP request for a document. The request must succeed. */
    public void send(String method, String document, String body, String... headers) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url() + "/v1/stream/" + document))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .headers(headers)
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
    }

    public void stop() {
        server.close();
    }

    /** Returns a client with a timeout for busy machines. */
    public Jedis jedis() {
        return new Jedis("127.0.0.1", port, TIMEOUT_MILLIS);
    }

    /** Returns a line for each document, with its name, sequences, attributes, and values. */
    public List<String> exported() {
        List<String> lines = new ArrayList<>();
        try (DocumentClient client = Migrations.carrier(address())) {
            client.scanPrefix(new byte[0], names -> {
                for (byte[] name : names) {
                    Description document = DocumentClient.visible(client.requestDescription(name));
                    if (document == null) {
                        continue;
                    }
                    StringBuilder line = new StringBuilder(DocumentName.of(name) + " " + document.first());
                    new TreeMap<>(document.attributes())
                            .forEach((key, value) ->
                                    line.append(' ').append(key).append('=').append(text(Description.encoded(value))));
                    client.read(name, document, value -> line.append('\n').append(text(value.bytes())));
                    lines.add(line.toString());
                }
            });
        } catch (ClientException changing) {
            lines.add(changing.getMessage());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        lines.sort(null);
        return lines;
    }

    private static String text(byte[] bytes) {
        return bytes.length > 100
                ? bytes.length + " bytes " + Arrays.hashCode(bytes)
                : new String(bytes, StandardCharsets.ISO_8859_1);
    }

    public String address() {
        return "127.0.0.1:" + port;
    }

    /** Returns the HTTP port. The server must have one. */
    public String httpPort() {
        return String.valueOf(server.httpAddress().getPort());
    }

    @Override
    public void close() {
        stop();
        store.close();
    }
}
