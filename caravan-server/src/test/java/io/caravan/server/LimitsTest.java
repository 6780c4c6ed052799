package io.caravan.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.NetworkLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each limit holds, and nothing that was accepted is lost for it. */
class LimitsTest {
    private static final long MIB = 1 << 20;
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofMinutes(10);

    private ServerFixture fixture;

    private void start(int maxConnections, long connectionBytes, long totalBytes, Duration request, Duration idle)
            throws IOException {
        fixture = new ServerFixture(new NetworkLimits(maxConnections, connectionBytes, totalBytes, request, idle));
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    @Test
    void oneConnectionTooManyIsToldSoAndClosed() throws IOException {
        start(2, 16 * MIB, 64 * MIB, LONG, Duration.ZERO);
        try (RespClient first = fixture.connect();
                RespClient second = fixture.connect()) {
            assertThat(first.call("PING")).isEqualTo("+PONG");
            assertThat(second.call("PING")).isEqualTo("+PONG");
            try (RespClient third = fixture.connect()) {
                assertThat(third.read()).isEqualTo("-ERR max number of clients reached");
                assertThat(third.atEnd()).isTrue();
            }
            assertThat(first.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void aConnectionThatEndsMakesRoomForAnother() throws Exception {
        start(1, 16 * MIB, 64 * MIB, LONG, Duration.ZERO);
        for (int i = 0; i < 20; i++) {
            try (RespClient client = fixture.connect()) {
                assertThat(client.call("PING")).isEqualTo("+PONG");
                client.call("QUIT");
                assertThat(client.atEnd()).isTrue();
            }
            fixture.awaitConnections(0);
        }
    }

    @Test
    void aConnectionIsNotReadFromWhileTooMuchOfItWaitsForAnswers() throws Exception {
        long limit = 9 * MIB;
        start(10, limit, 64 * MIB, LONG, Duration.ZERO);
        pushMuch(1, 40, limit);
    }

    @Test
    void allConnectionsTogetherAreNotReadFromWhileTooMuchWaitsForAnswers() throws Exception {
        long limit = 12 * MIB;
        start(20, 9 * MIB, limit, LONG, Duration.ZERO);
        pushMuch(8, 8, limit);
    }

    /** While nothing is answered, clients push; then all of it is answered. */
    private void pushMuch(int clients, int mebibytesEach, long limit) throws Exception {
        String value = "v".repeat((int) MIB / 2);
        List<CompletableFuture<Void>> pushes = new ArrayList<>();
        List<RespClient> connections = new ArrayList<>();
        fixture.store.hold();
        for (int i = 0; i < clients; i++) {
            RespClient client = fixture.connect();
            connections.add(client);
            String name = "k" + i;
            pushes.add(CompletableFuture.runAsync(() -> push(client, name, value, 2 * mebibytesEach)));
        }
        fixture.awaitInFlight(limit);
        long most = fixture.inFlightBytes();
        // What one read brings may go beyond, for each connection.
        assertThat(most).isLessThan(limit + clients * MIB / 8);
        assertThat(CompletableFuture.allOf(pushes.toArray(CompletableFuture[]::new)))
                .isNotDone();
        fixture.store.release();
        CompletableFuture<?>[] answers = connections.stream()
                .map(client -> CompletableFuture.runAsync(() -> readAll(client, 2 * mebibytesEach)))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(answers).get(60, TimeUnit.SECONDS);
        fixture.awaitInFlight(0);
        for (RespClient client : connections) {
            client.close();
        }
    }

    private static void push(RespClient client, String name, String value, int times) {
        try {
            for (int i = 0; i < times; i++) {
                client.send("RPUSH", name, value);
            }
        } catch (IOException broken) {
            throw new AssertionError(broken);
        }
    }

    private static void readAll(RespClient client, int answers) {
        try {
            for (int i = 1; i <= answers; i++) {
                assertThat(client.read()).isEqualTo(":" + i);
            }
        } catch (IOException broken) {
            throw new AssertionError(broken);
        }
    }

    @Test
    void connectionsThatEachHoldPartOfARequestDoNotWaitForEachOther() throws Exception {
        start(20, 9 * MIB, 9 * MIB, LONG, Duration.ZERO);
        int clients = 16;
        byte[] request = RespClient.encode("RPUSH".getBytes(UTF_8), "k".getBytes(UTF_8), new byte[(int) MIB]);
        int begun = request.length * 3 / 4;
        List<RespClient> connections = new ArrayList<>();
        CountDownLatch allBegun = new CountDownLatch(clients);
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            RespClient client = fixture.connect();
            connections.add(client);
            done.add(CompletableFuture.runAsync(() -> sendInTwo(client, request, begun, allBegun), Thread::startVirtual));
        }
        CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        for (RespClient client : connections) {
            client.close();
        }
    }
}
