package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.TestLimits;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the effects of the shared network limits on HTTP connections. */
class HttpLimitsTest {
    /** A timeout that is longer than the pauses between the bytes that a test sends, even on a busy machine. */
    private static final Duration SHORT = Duration.ofMillis(500);

    private static final Duration LONG = Duration.ofMinutes(10);

    private static final String GET = RawClient.get("/healthz");

    private final ScheduledExecutorService clientThread = Executors.newSingleThreadScheduledExecutor();
    private ServerFixture fixture;

    private void start(int maxConnections, Duration request, Duration idle) throws IOException {
        NetworkConfig defaults = NetworkConfig.defaults();
        NetworkLimits limits = TestLimits.of(maxConnections, 16 << 20, 64 << 20, request, idle);
        fixture = new ServerFixture(
                ListStore.inMemory(),
                config -> config.withHttp(ServerFixture.HTTP)
                        .withNetwork(new NetworkConfig(defaults.transport(), 1, limits, null)));
    }

    @AfterEach
    void stop() {
        clientThread.shutdownNow();
        if (fixture != null) {
            fixture.close();
        }
    }

    private RawClient connect() throws IOException {
        return new RawClient(fixture.server.httpAddress());
    }

    private static void assertResponded(RawClient client) throws IOException {
        client.send(GET);
        assertThat(client.read().status()).isEqualTo(200);
    }

    @Test
    void rejectsConnectionBeyondTotalLimitWith503() throws IOException {
        start(2, LONG, Duration.ZERO);
        try (RawClient first = connect();
                RespClient second = fixture.connect()) {
            assertResponded(first);
            assertThat(second.call("PING")).isEqualTo("+PONG");
            try (RawClient third = connect()) {
                third.send(GET);
                assertThat(third.rest()).startsWith("HTTP/1.1 503 ").contains("Connection: close");
            }
        }
        Eventually.await(
                "their places are free",
                () -> fixture.server.network().connections().isEmpty());
        assertThat(metric("caravan_connections_rejected_total{limit=\"total\"}"))
                .isEqualTo(1);
    }

    @Test
    void slowHeadTimesOutWith408() throws Exception {
        assertThat(trickle("GET /healthz HTTP/1.1\r\nX: ")).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void slowBodyTimesOutWith408() throws Exception {
        assertThat(trickle("PUT /v1/stream/s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"))
                .startsWith("HTTP/1.1 408 ");
    }

    @Test
    void closesSilentConnectionWithoutResponse() throws IOException {
        start(10, SHORT, Duration.ZERO);
        try (RawClient silent = connect();
                RespClient resp = fixture.connect()) {
            assertThat(silent.rest()).isEmpty();
            // Authentication is disabled, so a client may wait before its first command.
            assertThat(resp.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void requestTimeoutDoesNotApplyBetweenRequests() throws IOException {
        start(10, SHORT, Duration.ZERO);
        try (RawClient silent = connect();
                RawClient patient = connect()) {
            assertResponded(patient);
            assertThat(silent.rest()).isEmpty();
            patient.send(GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
            assertThat(patient.rest()).contains("HTTP/1.1 200 ");
        }
    }

    private static void trickleOn(RawClient socket) {
        try {
            socket.send("x");
        } catch (IOException closed) {
            throw new UncheckedIOException(closed);
        }
    }

    private String trickle(String beginning) throws Exception {
        start(10, SHORT, Duration.ZERO);
        try (RawClient socket = connect()) {
            socket.send(beginning);
            // The task throws, and so ends, when the server has closed the connection.
            clientThread.scheduleWithFixedDelay(() -> trickleOn(socket), 10, 10, TimeUnit.MILLISECONDS);
            return socket.rest();
        }
    }

    @Test
    void closesIdleConnection() throws IOException {
        start(10, LONG, SHORT);
        try (RawClient socket = connect()) {
            assertResponded(socket);
            assertThat(socket.rest()).isNotNull();
        }
    }

    /** Returns the value of a metric, which is scraped over a separate connection. */
    private double metric(String name) {
        try (RawClient scraper = connect()) {
            scraper.send(RawClient.get("/metrics"));
            return scraper.read()
                    .body()
                    .lines()
                    .filter(line -> line.startsWith(name + " "))
                    .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                    .sum();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void countsUnreadReplyBytes() throws IOException {
        start(10, LONG, Duration.ZERO);
        String value = "v".repeat(1_000_000);
        try (RespClient slow = new RespClient(fixture.server.respAddress(), 4 * 1024)) {
            assertThat(slow.call("RPUSH", "k", value)).isEqualTo(":1");
            for (int i = 0; i < 32; i++) {
                slow.send("LINDEX", "k", "0");
            }
            // The memory of the pending requests, including this scrape, is far smaller.
            Eventually.await("replies are buffered", () -> metric("caravan_replies_pending_bytes") > 100_000);
        }
    }

    /** Unwritten response bytes must count toward the limit, or they could fill the memory if an event loop is busy. */
    @Test
    void countsResponseBytesBeforeTheyAreWritten() throws Exception {
        String value = "v".repeat(HttpFixture.MAX_BODY_BYTES);
        CountDownLatch read = new CountDownLatch(1);
        CountDownLatch write = new CountDownLatch(1);
        CountDownLatch busy = new CountDownLatch(1);
        try (HttpFixture http = HttpFixture.serving()) {
            http.create("/v1/stream/k", "text/plain");
            for (int i = 0; i < 3; i++) {
                http.append("/v1/stream/k", "text/plain", value);
            }
            int threads = http.readers.getCorePoolSize();
            // Waits for running tasks, because the queue length would also count tasks that have not started.
            CountDownLatch occupied = new CountDownLatch(threads);
            for (int i = 0; i < threads; i++) {
                http.readers.execute(() -> {
                    occupied.countDown();
                    awaitLatch(read);
                });
            }
            awaitLatch(occupied);
            CompletableFuture<HttpResponse<String>> response = http.sendAsync("GET", "/v1/stream/k");
            Eventually.await("the read is next", () -> http.readers.getQueue().size() == 1);
            http.network.connections().iterator().next().eventLoop().execute(() -> {
                busy.countDown();
                awaitLatch(write);
            });
            awaitLatch(busy);
            read.countDown();
            Eventually.await("the slice counts", () -> http.network.replyBytes() >= 2L * value.length());
            write.countDown();
            assertThat(response.get().body()).isEqualTo(value.repeat(3));
            Eventually.await("nothing counts", () -> http.network.replyBytes() == 0);
        } finally {
            read.countDown();
            write.countDown();
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void countsHeadMemoryUntilBodyArrives() throws IOException {
        start(10, LONG, Duration.ZERO);
        String headers = "a: b\r\n".repeat(100);
        try (RawClient socket = connect()) {
            socket.send("PUT /v1/stream/k HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n" + headers);
            Eventually.await("part of the head is held", () -> inFlight() > 100 * 128);
            socket.send(headers.substring(0, 60) + "\r\n");
            Eventually.await("the head is held", () -> inFlight() > 110 * 128);
            socket.send("0123456789");
            Eventually.await("nothing is held", () -> inFlight() == 0);
        }
    }

    private long inFlight() {
        return fixture.server.network().inFlightBytes();
    }

    @Test
    void releasesRequestMemoryAfterResponse() throws IOException {
        start(10, LONG, Duration.ZERO);
        try (RawClient socket = connect()) {
            for (int i = 0; i < 10; i++) {
                socket.send(GET);
            }
            Eventually.await("nothing is held", () -> inFlight() == 0);
        }
    }
}
