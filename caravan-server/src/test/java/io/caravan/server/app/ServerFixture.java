package io.caravan.server.app;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.server.protocol.resp.RespLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.function.UnaryOperator;

/** A server that has an in-memory store and listens on a loopback port. */
public final class ServerFixture implements AutoCloseable {
    public static final int MAX_WORD_BYTES = 1024 * 1024;
    public static final int MAX_REQUEST_BYTES = 8 * 1024 * 1024;

    /** The HTTP configuration: a free loopback port, and the same limits as for RESP. */
    public static final HttpConfig HTTP = HttpConfig.of(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), MAX_WORD_BYTES, MAX_REQUEST_BYTES);

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    public final DelayedStore store;
    public final Server server;

    public ServerFixture() throws IOException {
        this(ListStore.inMemory());
    }

    public ServerFixture(ListStore store) throws IOException {
        this(store, config -> config);
    }

    /** Starts a server with the default test configuration as modified by {@code change}. */
    public ServerFixture(ListStore store, UnaryOperator<ServerConfig> change) throws IOException {
        this.store = new DelayedStore(store);
        this.server = Server.start(
                this.store,
                change.apply(new ServerConfig(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        new RespLimits(MAX_WORD_BYTES, MAX_REQUEST_BYTES),
                        Durability.MEMORY)));
    }

    public RespClient connect() throws IOException {
        return new RespClient(server.respAddress());
    }

    /**
     * Sends an HTTP request, and returns its response.
     *
     * @param headers names and values, alternating; without any, a body has the type {@code application/octet-stream}
     */
    public HttpResponse<String> http(String method, String path, String body, String... headers)
            throws IOException, InterruptedException {
        return http(server, method, path, body, headers);
    }

    static HttpResponse<String> http(Server server, String method, String path, String body, String... headers)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + server.httpAddress().getPort() + path);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        } else if (!body.isEmpty()) {
            request.header("Content-Type", "application/octet-stream");
        }
        return CLIENT.send(request.build(), BodyHandlers.ofString());
    }

    /** Returns the response body of a GET request for this path. */
    public String get(String path) throws IOException, InterruptedException {
        return http("GET", path, "").body();
    }

    @Override
    public void close() {
        store.freeSpace();
        store.release();
        server.close();
        store.close();
    }
}
