package io.caravan.server.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.TestLimits;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.server.protocol.resp.RespLimits;
import io.caravan.testing.Eventually;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that no acknowledged write is lost when connections reach the network limits. */
class LimitsTest {
    private static final long MIB = 1 << 20;
    /**
     * The timeout for requests that clients never complete. An early timeout on a busy machine does not affect the
     * test.
     */
    private static final Duration SHORT = Duration.ofMillis(500);

    /** An idle timeout longer than the time from connecting to the first request, even on a busy machine. */
    private static final Duration IDLE = Duration.ofSeconds(2);

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration NEVER = Duration.ZERO;

    private final ExecutorService clientThreads = Executors.newCachedThreadPool();
    private final ScheduledExecutorService trickles = Executors.newSingleThreadScheduledExecutor();
    private final List<RespClient> clients = new ArrayList<>();
    private ServerFixture fixture;

    private void start(int maxConnections, long connectionBytes, long totalBytes) throws IOException {
        start(TestLimits.of(maxConnections, connectionBytes, totalBytes, LONG, NEVER));
    }

    private void start(NetworkLimits limits) throws IOException {
        NetworkConfig network = new NetworkConfig(NetworkConfig.defaults().transport(), 2, limits, null);
        startWith(config -> config.withNetwork(network).withHttp(ServerFixture.HTTP));
    }

    private void startWith(UnaryOperator<ServerConfig> change) throws IOException {
        fixture = new ServerFixture(ListStore.inMemory(), change);
    }

    private RespClient connect() throws IOException {
        RespClient client = fixture.connect();
        clients.add(client);
        return client;
    }

    private long inFlight() {
        return fixture.server.network().inFlightBytes();
    }

    @AfterEach
    void stop() throws IOException {
        for (RespClient client : clients) {
            client.close();
        }
        fixture.close();
        clientThreads.shutdownNow();
        trickles.shutdownNow();
    }

    @Test
    void rejectsConnectionBeyondLimit() throws IOException {
        start(2, 16 * MIB, 64 * MIB);
        RespClient first = connect();
        assertThat(first.call("PING")).isEqualTo("+PONG");
        assertThat(connect().call("PING")).isEqualTo("+PONG");
        RespClient third = connect();
        third.send("PING");
        assertThat(third.read()).isEqualTo("-ERR max number of clients reached");
        assertThat(third.atEnd()).isTrue();
        assertThat(first.call("PING")).isEqualTo("+PONG");
    }

    @Test
    void acceptsNewConnectionAfterOneCloses() throws IOException {
        start(1, 16 * MIB, 64 * MIB);
        for (int i = 0; i < 20; i++) {
            RespClient client = connect();
            assertThat(client.call("PING")).isEqualTo("+PONG");
            client.close();
            Eventually.await(
                    "it is gone", () -> fixture.server.network().connections().isEmpty());
        }
    }

    /** The server must release a closed connection's memory before the connection's incomplete request times out. */
    @Test
    void closedConnectionsAreGarbageCollected() throws Exception {
        start(10, 16 * MIB, 64 * MIB);
        List<WeakReference<Channel>> ended;
        try (RespClient silent = fixture.connect();
                RespClient replied = fixture.connect();
                RespClient halfway = fixture.connect();
                Socket http =
                        new Socket("127.0.0.1", fixture.server.httpAddress().getPort())) {
            assertThat(replied.call("PING")).isEqualTo("+PONG");
            halfway.sendRaw("*2\r\n$4\r\nPI".getBytes(UTF_8));
            http.getOutputStream().write("GET /healthz HTTP/1.1\r\n".getBytes(UTF_8));
            ChannelGroup connections = fixture.server.network().connections();
            Eventually.await("they are there, with what was sent", () -> connections.size() == 4 && inFlight() > 0);
            ended = connections.stream().map(WeakReference::new).toList();
        }
        Eventually.await("they are gone", () -> {
            System.gc();
            return ended.stream().allMatch(connection -> connection.refersTo(null));
        });
    }

    /** A write that waits for space in the store must not keep its closed connection in memory. */
    @Test
    void waitingCommandDoesNotRetainConnection() throws Exception {
        start(10, 16 * MIB, 64 * MIB);
        fixture.store.takeSpace();
        WeakReference<Channel> ended;
        try (Socket resp = new Socket("127.0.0.1", fixture.server.respAddress().getPort())) {
            resp.getOutputStream().write("RPUSH k v\r\n".getBytes(UTF_8));
            fixture.store.awaitWaiter();
            ended = onlyConnection();
            resp.setSoLinger(true, 0);
        }
        awaitGone(ended);
    }

    private WeakReference<Channel> onlyConnection() {
        return new WeakReference<>(
                fixture.server.network().connections().iterator().next());
    }

    private void awaitGone(WeakReference<Channel> ended) {
        Eventually.await(
                "it has ended", () -> fixture.server.network().connections().isEmpty());
        Eventually.await("it is gone", () -> {
            System.gc();
            return ended.refersTo(null);
        });
    }

    /** An HTTP request that waits for space in the store must not keep its closed connection in memory. */
    @Test
    void waitingHttpRequestDoesNotRetainConnection() throws Exception {
        start(10, 16 * MIB, 64 * MIB);
        fixture.store.takeSpace();
        WeakReference<Channel> ended;
        try (Socket http = new Socket("127.0.0.1", fixture.server.httpAddress().getPort())) {
            http.getOutputStream()
                    .write("PUT /v1/stream/k HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\n\r\n1"
                            .getBytes(UTF_8));
            fixture.store.awaitWaiter();
            ended = onlyConnection();
            http.setSoLinger(true, 0);
        }
        awaitGone(ended);
    }

    @Test
    void pausesReadingAtConnectionByteLimit() throws Exception {
        start(10, 9 * MIB, 64 * MIB);
        pushMuch(1, 80, 9 * MIB);
    }

    @Test
    void pausesReadingAtTotalByteLimit() throws Exception {
        start(20, 9 * MIB, 12 * MIB);
        pushMuch(8, 16, forLargeOnes(12 * MIB));
    }

    /** Returns the part of a global limit that is available to connections that already use a lot of memory. */
    private static long forLargeOnes(long limit) {
        return limit * 3 / 4;
    }

    /**
     * Pushes values of 512 KiB from several clients while the store delays acknowledgments, and then reads all replies.
     */
    private void pushMuch(int clientCount, int pushesEach, long limit) throws Exception {
        byte[] value = new byte[(int) MIB / 2];
        List<Flood> floods = new ArrayList<>();
        fixture.store.hold();
        for (int i = 0; i < clientCount; i++) {
            byte[] push = RespClient.encode("RPUSH".getBytes(UTF_8), ("k" + i).getBytes(UTF_8), value);
            floods.add(new Flood(fixture.server, push, pushesEach));
            clients.add(floods.get(i).client);
        }
        Flood.untilStuck(fixture.server, floods);
        // Each connection may exceed the limit by one socket read and by one request that it has already started.
        long slack = MIB + clientCount * MIB / 8;
        assertThat(inFlight()).isBetween(limit, limit + slack);
        assertThat(floods).anyMatch(flood -> !flood.hasSentAll());
        List<Future<?>> rests = new ArrayList<>();
        for (Flood flood : floods) {
            rests.add(flood.sendRest());
        }
        fixture.store.release();
        for (Flood flood : floods) {
            flood.client.readsNumbers(1, pushesEach);
        }
        for (Future<?> rest : rests) {
            rest.get();
        }
        Eventually.await("nothing is held", () -> inFlight() == 0);
    }

    /** Connections whose partial requests reach the byte limit must not wait for each other to release memory. */
    @Test
    void partialRequestsDoNotBlockEachOtherAtByteLimit() throws Exception {
        start(20, 9 * MIB, 9 * MIB);
        byte[] request = RespClient.encode("RPUSH".getBytes(UTF_8), "k".getBytes(UTF_8), new byte[(int) MIB]);
        int clientCount = 16;
        List<Future<String>> replies = new ArrayList<>();
        CountDownLatch full = new CountDownLatch(1);
        for (int i = 0; i < clientCount; i++) {
            RespClient client = connect();
            replies.add(clientThreads.submit(() -> {
                client.sendRaw(request, 0, request.length * 3 / 4);
                full.await();
                client.sendRaw(request, request.length * 3 / 4, request.length);
                return client.read();
            }));
        }
        Eventually.await("the limit is reached", () -> inFlight() >= forLargeOnes(9 * MIB));
        full.countDown();
        for (Future<String> reply : replies) {
            assertThat(reply.get(30, TimeUnit.SECONDS)).startsWith(":");
        }
    }

    private static void trickleOn(RespClient client) {
        try {
            client.sendRaw("\r".getBytes(UTF_8));
        } catch (IOException closed) {
            throw new UncheckedIOException(closed);
        }
    }

    @Test
    void tricklingRequestTimesOut() throws Exception {
        start(TestLimits.of(10, 16 * MIB, 64 * MIB, SHORT, NEVER));
        RespClient patient = connect();
        RespClient trickling = connect();
        trickling.sendRaw("*2\r\n$4\r\nPI".getBytes(UTF_8));
        // The task throws, and so ends, when the server has closed the connection.
        trickles.scheduleWithFixedDelay(() -> trickleOn(trickling), 10, 10, TimeUnit.MILLISECONDS);
        assertThat(trickling.read()).startsWith("-ERR Protocol error: ");
        assertThat(patient.call("PING")).isEqualTo("+PONG");
    }

    /** Stalled requests that reach the byte limit must time out, or one could make all other connections wait. */
    @Test
    void stalledRequestsTimeOutAtTotalByteLimit() throws Exception {
        start(TestLimits.of(20, 9 * MIB, 9 * MIB, SHORT, NEVER));
        byte[] request = RespClient.encode("RPUSH".getBytes(UTF_8), "k".getBytes(UTF_8), new byte[(int) MIB]);
        List<Future<String>> replies = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            RespClient client = connect();
            replies.add(clientThreads.submit(() -> {
                client.sendRaw(request, 0, request.length * 7 / 8);
                return client.read();
            }));
        }
        for (Future<String> reply : replies) {
            assertThat(reply.get(30, TimeUnit.SECONDS)).startsWith("-ERR Protocol error: ");
        }
        Eventually.await("nothing is held", () -> inFlight() == 0);
    }

    @Test
    void closesIdleConnectionsExceptThoseAwaitingReply() throws Exception {
        start(TestLimits.of(10, 16 * MIB, 64 * MIB, LONG, IDLE));
        RespClient waiting = connect();
        fixture.store.hold();
        waiting.send("RPUSH", "k", "v");
        fixture.store.awaitAccepted(1);
        RespClient idle = connect();
        assertThat(idle.atEnd()).isTrue();
        fixture.store.release();
        assertThat(waiting.read()).isEqualTo(":1");
        assertThat(waiting.atEnd()).isTrue();
    }

    @Test
    void limitsPipelinedRequestsPerConnection() throws Exception {
        int pipeline = 7;
        RespLimits limits = new RespLimits(ServerFixture.MAX_WORD_BYTES, ServerFixture.MAX_REQUEST_BYTES, pipeline);
        startWith(config -> config.withLimits(limits));
        fixture.store.hold();
        RespClient client = connect();
        for (int i = 0; i < 3 * pipeline; i++) {
            client.send("RPUSH", "k", "v");
        }
        fixture.store.awaitAccepted(pipeline);
        Flood.turn(fixture.server.network());
        Flood.turn(fixture.server.network());
        assertThat(fixture.store.accepted()).isEqualTo(pipeline);
        fixture.store.release();
        client.readsNumbers(1, 3 * pipeline);
    }
}
