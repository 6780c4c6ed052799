package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.TestLimits;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limits that apply to all listeners, on HTTP connections. */
class HttpLimitsTest {
    /** Longer than a busy machine delays the next bytes that a test sends. */
    private static final Duration SHORT = Duration.ofMillis(500);

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int TIMEOUT_MILLIS = 20_000;
    private static final String GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private final ScheduledExecutorService clientThread = Executors.newSingleThreadScheduledExecutor();
    private ServerFixture fixture;

    private void start(int maxConnections, Duration request, Duration idle) throws IOException {
        NetworkConfig defaults = NetworkConfig.defaults();
        NetworkLimits limits = TestLimits.of(maxConnections, 16 << 20, 64 << 20, request, idle);
        HttpConfig http = HttpConfig.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1 << 20, 4 << 20);
        fixture = new ServerFixture(
                ListStore.inMemory(),
                config -> config.withHttp(http).withNetwork(new NetworkConfig(defaults.transport(), 1, limits, null)));
    }

    @AfterEach
    void stop() {
        clientThread.shutdownNow();
        if (fixture != null) {
            fixture.close();
        }
    }

    private Socket connect() throws IOException {
        InetSocketAddress address = fixture.server.httpAddress();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(US_ASCII));
    }

    /** Returns everything that arrives until the server closes the connection. */
    private static String rest(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    }

    private static void assertAnswered(Socket socket) throws IOException {
        send(socket, GET);
        String status = "HTTP/1.1 200 ";
        assertThat(new String(socket.getInputStream().readNBytes(status.length()), US_ASCII))
                .isEqualTo(status);
    }

    @Test
    void oneConnectionTooManyIsAnsweredWith503WhicheverPortTheOthersCameTo() throws IOException {
        start(2, LONG, Duration.ZERO);
        try (Socket first = connect();
                RespClient second = fixture.connect()) {
            assertAnswered(first);
            assertThat(second.call("PING")).isEqualTo("+PONG");
            try (Socket third = connect()) {
                send(third, GET);
                assertThat(rest(third)).startsWith("HTTP/1.1 503 ").contains("Connection: close");
            }
        }
    }

    @Test
    void aHeadThatTricklesIsAnsweredWith408() throws Exception {
        assertThat(trickle("GET /healthz HTTP/1.1\r\nX: ")).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void aBodyThatTricklesIsAnsweredWith408() throws Exception {
        assertThat(trickle("PUT /v1/stream/s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"))
                .startsWith("HTTP/1.1 408 ");
    }

    @Test
    void aConnectionOverWhichNoRequestBeginsIsClosedWithoutAWord() throws IOException {
        start(10, SHORT, Duration.ZERO);
        try (Socket silent = connect();
                RespClient resp = fixture.connect()) {
            assertThat(rest(silent)).isEmpty();
            // Authentication is disabled, so a client may wait before its first command.
            assertThat(resp.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void aConnectionThatHadItsAnswerMayWaitWithTheNextRequest() throws IOException {
        start(10, SHORT, Duration.ZERO);
        try (Socket silent = connect();
                Socket patient = connect()) {
            assertAnswered(patient);
            assertThat(rest(silent)).isEmpty();
            send(patient, GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
            assertThat(rest(patient)).contains("HTTP/1.1 200 ");
        }
    }

    private static void trickleOn(Socket socket) {
        try {
            send(socket, "x");
        } catch (IOException closed) {
            throw new UncheckedIOException(closed);
        }
    }

    private String trickle(String beginning) throws Exception {
        start(10, SHORT, Duration.ZERO);
        try (Socket socket = connect()) {
            send(socket, beginning);
            // The task throws, and so ends, when the server has closed the connection.
            clientThread.scheduleWithFixedDelay(() -> trickleOn(socket), 10, 10, TimeUnit.MILLISECONDS);
            return rest(socket);
        }
    }

    @Test
    void anIdleConnectionIsClosed() throws IOException {
        start(10, LONG, SHORT);
        try (Socket socket = connect()) {
            assertAnswered(socket);
            assertThat(rest(socket)).isNotNull();
        }
    }

    /** Returns the value of a metric, which is scraped over a separate connection. */
    private double figure(String name) {
        try (Socket scraper = connect()) {
            send(scraper, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            return rest(scraper)
                    .lines()
                    .filter(line -> line.startsWith(name + " "))
                    .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                    .sum();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void aRefusedConnectionIsCounted() throws IOException {
        start(1, LONG, Duration.ZERO);
        String refused = "caravan_connections_rejected_total{limit=\"total\"}";
        try (RespClient only = fixture.connect()) {
            assertThat(only.call("PING")).isEqualTo("+PONG");
            try (Socket second = connect()) {
                send(second, GET);
                assertThat(rest(second)).startsWith("HTTP/1.1 503 ");
            }
        }
        Eventually.await(
                "its place is free",
                () -> fixture.server.network().connections().isEmpty());
        assertThat(figure(refused)).isEqualTo(1);
    }

    @Test
    void whatAClientDoesNotTakeIsCounted() throws IOException {
        start(10, LONG, Duration.ZERO);
        String value = "v".repeat(1_000_000);
        try (RespClient slow = new RespClient(fixture.server.respAddress(), 4 * 1024)) {
            assertThat(slow.call("RPUSH", "k", value)).isEqualTo(":1");
            for (int i = 0; i < 32; i++) {
                slow.send("LINDEX", "k", "0");
            }
            // The memory of the pending requests, including this scrape, is far smaller.
            Eventually.await("answers are held", () -> figure("caravan_replies_pending_bytes") > 100_000);
        }
    }

    /** Otherwise the reading threads could fill the memory while an event loop is busy. */
    @Test
    void whatIsReadForAnAnswerIsCountedBeforeTheLoopWritesIt() throws Exception {
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
            // The queue also contains tasks that the threads have not started.
            CountDownLatch occupied = new CountDownLatch(threads);
            for (int i = 0; i < threads; i++) {
                http.readers.execute(() -> {
                    occupied.countDown();
                    awaitLatch(read);
                });
            }
            awaitLatch(occupied);
            CompletableFuture<HttpResponse<String>> answer = http.sendAsync("GET", "/v1/stream/k");
            Eventually.await("the read is next", () -> http.readers.getQueue().size() == 1);
            http.network.connections().iterator().next().eventLoop().execute(() -> {
                busy.countDown();
                awaitLatch(write);
            });
            awaitLatch(busy);
            read.countDown();
            Eventually.await("the slice counts", () -> http.network.answerBytes() >= 2L * value.length());
            write.countDown();
            assertThat(answer.get().body()).isEqualTo(value.repeat(3));
            Eventually.await("nothing counts", () -> http.network.answerBytes() == 0);
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
    void headsCountFromTheirBeginningUntilTheirBodiesHaveCome() throws IOException {
        start(10, LONG, Duration.ZERO);
        String headers = "a: b\r\n".repeat(100);
        try (Socket socket = connect()) {
            send(socket, "PUT /v1/stream/k HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n" + headers);
            Eventually.await("part of the head is held", () -> inFlight() > 100 * 128);
            send(socket, headers.substring(0, 60) + "\r\n");
            Eventually.await("the head is held", () -> inFlight() > 110 * 128);
            send(socket, "0123456789");
            Eventually.await("nothing is held", () -> inFlight() == 0);
        }
    }

    private long inFlight() {
        return fixture.server.network().inFlightBytes();
    }

    @Test
    void whatWasAnsweredIsNotHeld() throws IOException {
        start(10, LONG, Duration.ZERO);
        try (Socket socket = connect()) {
            for (int i = 0; i < 10; i++) {
                send(socket, GET);
            }
            Eventually.await("nothing is held", () -> inFlight() == 0);
        }
    }
}
