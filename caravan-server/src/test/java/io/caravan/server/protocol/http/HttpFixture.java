package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.metrics.DiskSpace;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.Network;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.TestLimits;
import io.caravan.server.net.Transport;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.Eventually;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An HTTP server that has an in-memory store and listens on a loopback port, and a client that uses it. */
final class HttpFixture implements AutoCloseable {
    static final int MAX_BODY_BYTES = 64 * 1024;
    static final int MAX_BATCH_BYTES = 256 * 1024;
    /** The limit on the memory of all connections together. */
    static final long TOTAL_BYTES = 64 << 20;

    static final Duration LONG = Duration.ofSeconds(60);
    /** The origin rules that let web pages from any origin read responses. */
    static final Origins ANY_ORIGIN = new Origins(
            HttpConfig.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), MAX_BODY_BYTES, MAX_BODY_BYTES),
            true,
            host -> false);

    final ListStore store;
    final DocumentService documents;
    final HttpProtocol server;
    private final InetSocketAddress address;
    final Network network;
    final ThreadPoolExecutor readers =
            (ThreadPoolExecutor) Executors.newFixedThreadPool(2, new DefaultThreadFactory("test-reader", true));
    private final ServerMetrics metrics = new ServerMetrics();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    HttpFixture() throws IOException {
        this(ListStore.inMemory(), Authenticator.open(), LONG, LONG);
    }

    HttpFixture(ListStore store, Authenticator authenticator, Duration live, Duration stall, String... allowedOrigins)
            throws IOException {
        this(store, authenticator, live, LONG, stall, null, allowedOrigins);
    }

    private HttpFixture(
            ListStore store,
            Authenticator authenticator,
            Duration live,
            Duration heartbeat,
            Duration stall,
            @Nullable Cluster cluster,
            String... allowedOrigins)
            throws IOException {
        this.store = store;
        documents = new DocumentService(store, Catalog.open(store, 0), DocumentDurability.SYNC);
        HttpConfig config = new HttpConfig(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                MAX_BODY_BYTES,
                MAX_BATCH_BYTES,
                live,
                live,
                heartbeat,
                Set.of(allowedOrigins),
                Set.of());
        Transport transport = NetworkConfig.defaults().transport();
        server = new HttpProtocol(config, authenticator, metrics, cluster, readers, Routes.all(transport));
        NetworkLimits limits = TestLimits.of(2_000, 1 << 20, TOTAL_BYTES, stall, stall, Duration.ZERO);
        network = new Network(new NetworkConfig(transport, 1, limits, null));
        address = network.listen(config.address(), "--http", server);
        metrics.register(network, authenticator);
        metrics.register(documents, new DiskSpace(Path.of(".")));
    }

    /** Starts a server with an in-memory store and without authentication. */
    static HttpFixture serving() throws IOException {
        return new HttpFixture().serve();
    }

    /** Starts a server that authenticates its clients. */
    static HttpFixture guarded(Authenticator authenticator) throws IOException {
        return new HttpFixture(ListStore.inMemory(), authenticator, LONG, LONG).serve();
    }

    static HttpFixture serving(ListStore store) throws IOException {
        return new HttpFixture(store, Authenticator.open(), LONG, LONG).serve();
    }

    /** Starts a server whose live reads end after 100 ms. */
    static HttpFixture impatient() throws IOException {
        return new HttpFixture(ListStore.inMemory(), Authenticator.open(), Duration.ofMillis(100), LONG).serve();
    }

    /** Starts a server that disconnects clients stalled for {@code stall}, and sends comments at shorter intervals. */
    static HttpFixture dropping(Duration stall) throws IOException {
        Duration heartbeat = stall.dividedBy(4);
        return new HttpFixture(ListStore.inMemory(), Authenticator.open(), LONG, heartbeat, stall, null).serve();
    }

    /** Starts a server that sends comments in event streams at this interval. */
    static HttpFixture beating(Duration heartbeat) throws IOException {
        return new HttpFixture(ListStore.inMemory(), Authenticator.open(), LONG, heartbeat, LONG, null).serve();
    }

    /** Starts a cluster node that leads or has led. */
    static HttpFixture leading(Cluster cluster) throws IOException {
        return following(cluster).serve();
    }

    /** Starts a cluster node that has not led yet. */
    static HttpFixture following(Cluster cluster) throws IOException {
        return new HttpFixture(ListStore.inMemory(), Authenticator.open(), LONG, LONG, LONG, cluster);
    }

    HttpFixture serve() {
        server.serve(new HttpProtocol.Services(documents, null, null, Backups.none(), Stream::empty, List.of()));
        return this;
    }

    /** Occupies the reading threads until {@code until} is counted down. */
    void occupyReaders(CountDownLatch until) throws InterruptedException {
        int threads = readers.getCorePoolSize();
        CountDownLatch begun = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            readers.execute(() -> {
                begun.countDown();
                try {
                    until.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        begun.await();
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + address.getPort() + path);
    }

    HttpRequest.Builder request(String method, String path, BodyPublisher body) {
        return HttpRequest.newBuilder(uri(path)).timeout(LONG).method(method, body);
    }

    /**
     * Sends a request.
     *
     * @param body the body, or null for none
     * @param headers names and values, alternating
     */
    HttpResponse<String> send(String method, String path, String body, String... headers) throws Exception {
        return client.send(build(method, path, body, headers), BodyHandlers.ofString());
    }

    int status(String method, String path, String body, String... headers) throws Exception {
        return send(method, path, body, headers).statusCode();
    }

    /** Sends bytes over a separate connection, and reads one response. */
    RawClient.Response ask(String bytes) throws IOException {
        try (RawClient client = raw()) {
            client.send(bytes);
            return client.read();
        }
    }

    /** Returns the value of a response header, or null if the header is missing. */
    static @Nullable String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse(null);
    }

    /** Checks that a response reports this problem. */
    static void assertProblem(HttpResponse<String> response, int status, String code) throws Exception {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(header(response, "Content-Type")).isEqualTo("application/problem+json");
        Map<String, Object> problem = JsonTree.parse(response.body());
        assertThat(problem).containsEntry("code", code).containsEntry("status", status);
        assertThat((String) problem.get("detail")).isNotBlank();
    }

    /** Posts a body and returns the lines of the response as they arrive. */
    Stream<String> postForLines(String path, String body) throws Exception {
        return client.send(build("POST", path, body), BodyHandlers.ofLines()).body();
    }

    CompletableFuture<HttpResponse<String>> sendAsync(String method, String path, String... headers) {
        return client.sendAsync(build(method, path, null, headers), BodyHandlers.ofString());
    }

    CompletableFuture<HttpResponse<String>> postAsync(String path, String body) {
        return client.sendAsync(build("POST", path, body), BodyHandlers.ofString());
    }

    private HttpRequest build(String method, String path, String body, String... headers) {
        HttpRequest.Builder request =
                request(method, path, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    HttpResponse<String> get(String path) throws Exception {
        return send("GET", path, null);
    }

    /** Creates a stream with this content type. */
    void create(String path, String contentType) throws Exception {
        HttpResponse<String> created = send("PUT", path, null, "Content-Type", contentType);
        if (created.statusCode() != 201) {
            throw new AssertionError(created + created.body());
        }
    }

    HttpResponse<String> append(String path, String contentType, String body) throws Exception {
        return send("POST", path, body, "Content-Type", contentType);
    }

    /** Waits until clients are waiting for changes to {@code count} documents. */
    void awaitTailedDocuments(int count) {
        Eventually.await(count + " are waited for", () -> documents.tailedDocuments() == count);
    }

    int connections() {
        return (int) server.clients().count();
    }

    RawClient raw() throws IOException {
        return new RawClient(address);
    }

    /** Drains the connections, as a stopping server does. */
    void drain() {
        server.drain();
        network.drain(Duration.ofSeconds(5));
    }

    @Override
    public void close() {
        drain();
        metrics.close();
        documents.close();
        readers.shutdownNow();
        network.close();
        store.close();
    }
}
