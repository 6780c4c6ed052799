package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.caravan.testing.FaultProxy.Way;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
class FaultProxyTest {
    private static final int LARGE_BYTES = 200_000;

    private final AtomicInteger served = new AtomicInteger();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private HttpServer server;
    private ExecutorService threads;
    private FaultProxy proxy;

    @BeforeEach
    void startBoth() throws IOException {
        threads = Executors.newCachedThreadPool();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::echo);
        server.start();
        proxy = FaultProxy.before(server.getAddress().getPort());
    }

    @AfterEach
    void stopBoth() throws IOException {
        proxy.close();
        server.stop(0);
        threads.shutdownNow();
    }

    private void echo(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        served.incrementAndGet();
        exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Test
    void forwardsRequestsAndResponses() throws Exception {
        byte[] body = body();
        assertThat(put("/a", body).body()).isEqualTo(body);
        assertThat(put("/b", new byte[1]).body()).hasSize(1);
        assertThat(proxy.forwardedBytes()).isGreaterThan(2 * LARGE_BYTES);
        assertThat(proxy.accepted()).isPositive();
        assertThat(served).hasValue(2);
    }

    @Test
    void respondsToNextRequestsItself() throws Exception {
        proxy.response(2, new CannedResponse(503, "Retry-After: 1", "later"));
        HttpResponse<byte[]> rejected = put("/a", body());
        assertThat(rejected.statusCode()).isEqualTo(503);
        assertThat(rejected.headers().firstValue("Retry-After")).contains("1");
        assertThat(new String(rejected.body(), StandardCharsets.UTF_8)).isEqualTo("later");
        assertThat(put("/a", body()).statusCode()).isEqualTo(503);
        assertThat(put("/a", body()).statusCode()).isEqualTo(200);
        assertThat(proxy.responded()).isEqualTo(2);
        assertThat(served).hasValue(1);
    }

    @Test
    void respondsOnlyToMatchingRequests() throws Exception {
        proxy.response(1, line -> line.startsWith("PUT /refused "), CannedResponse.of(403));
        assertThat(put("/allowed", new byte[1]).statusCode()).isEqualTo(200);
        assertThat(put("/refused", new byte[1]).statusCode()).isEqualTo(403);
        assertThat(put("/refused", new byte[1]).statusCode()).isEqualTo(200);
    }

    @Test
    void cutsResponseAfterServerHandledRequest() throws Exception {
        proxy.cut(Way.RESPONSES, 1, 0);
        assertThatThrownBy(() -> put("/a", new byte[1])).isInstanceOf(IOException.class);
        assertThat(served).hasValue(1);
        assertThat(proxy.cut()).isEqualTo(1);
        assertThat(put("/a", new byte[1]).statusCode()).isEqualTo(200);
    }

    @Test
    void cutsRequestHalfway() throws Exception {
        proxy.cut(Way.REQUESTS, 1, LARGE_BYTES / 2);
        assertThatThrownBy(() -> put("/a", body())).isInstanceOf(IOException.class);
        assertThat(proxy.forwardedBytes()).isEqualTo(LARGE_BYTES / 2);
        assertThat(served).hasValue(0);
        assertThat(put("/a", body()).statusCode()).isEqualTo(200);
    }

    @Test
    void rejectsConnectionsUntilPassIsCalled() throws Exception {
        assertThat(put("/a", new byte[1]).statusCode()).isEqualTo(200);
        proxy.reject();
        assertThatThrownBy(() -> put("/a", new byte[1])).isInstanceOf(IOException.class);
        proxy.pass();
        assertThat(put("/a", new byte[1]).statusCode()).isEqualTo(200);
    }

    @Test
    void swallowsRequests() throws Exception {
        proxy.swallow();
        assertThatThrownBy(() -> put("/a", new byte[1], Duration.ofMillis(200)))
                .isInstanceOf(HttpTimeoutException.class);
        assertThat(served).hasValue(0);
    }

    @Test
    void delaysForwarding() throws Exception {
        proxy.delay(Duration.ofMillis(100));
        long start = System.nanoTime();
        assertThat(put("/a", new byte[1]).statusCode()).isEqualTo(200);
        assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(200));
    }

    @Test
    void throttlesForwarding() throws Exception {
        proxy.throttle(4L * LARGE_BYTES);
        long start = System.nanoTime();
        assertThat(put("/a", body()).statusCode()).isEqualTo(200);
        assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(400));
    }

    @Test
    void ruleChangeAppliesToOpenConnections() throws Exception {
        proxy.throttle(50);
        CompletableFuture<HttpResponse<byte[]>> slow =
                client.sendAsync(request("/a", body()).build(), BodyHandlers.ofByteArray());
        Eventually.await("something was forwarded", () -> proxy.forwardedBytes() > 0);
        proxy.reject();
        assertThatThrownBy(slow::get).hasCauseInstanceOf(IOException.class);
    }

    @Test
    void requestFailsWhenServerIsDown() throws Exception {
        server.stop(0);
        assertThatThrownBy(() -> put("/a", new byte[1])).isInstanceOf(IOException.class);
    }

    private HttpResponse<byte[]> put(String path, byte[] body) throws Exception {
        return put(path, body, Duration.ofSeconds(30));
    }

    private HttpResponse<byte[]> put(String path, byte[] body, Duration limit) throws Exception {
        return client.send(request(path, body).timeout(limit).build(), BodyHandlers.ofByteArray());
    }

    private HttpRequest.Builder request(String path, byte[] body) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + proxy.port() + path))
                .PUT(BodyPublishers.ofByteArray(body));
    }

    private static byte[] body() {
        byte[] body = new byte[LARGE_BYTES];
        new SplittableRandom(1).nextBytes(body);
        return body;
    }
}
