package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.RespClient.encode;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.Flood;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.net.Network;
import io.caravan.testing.Eventually;
import io.caravan.testing.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests pipelined requests: their order, durability, and backpressure, and the end of connections. */
class RespPipeliningTest {
    @AutoClose
    private ServerFixture fixture;

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture();
    }

    @Test
    void repliesKeepOrderAndReadsSeeEarlierWrites() {
        Seeds.forEach(5, seed -> {
            try (RespClient client = fixture.connect()) {
                runModel(client, new Random(seed), "doc" + seed);
            }
        });
    }

    /** Sends random requests over one connection all at once, and compares the replies with a model. */
    private static void runModel(RespClient client, Random random, String name) throws IOException {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        List<String> expected = new ArrayList<>();
        List<String> model = new ArrayList<>();
        for (int i = 0; i < 1_500; i++) {
            sent.write(step(random, name, i, model, expected));
        }
        CompletableFuture<Void> sender = CompletableFuture.runAsync(() -> {
            try {
                client.sendRaw(sent.toByteArray());
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        });
        for (String reply : expected) {
            assertThat(client.read()).isEqualTo(reply);
        }
        sender.join();
    }

    private static byte[] step(Random random, String name, int i, List<String> model, List<String> expected) {
        switch (random.nextInt(9)) {
            case 0:
                expected.add(":" + model.size());
                return encode("LLEN", name);
            case 1:
                expected.add(model.toString());
                return encode("LRANGE", name, "0", "-1");
            case 2:
                int trimmed = Math.min(model.size(), random.nextInt(4));
                model.subList(0, trimmed).clear();
                expected.add("+OK");
                return encode("LTRIM", name, Integer.toString(trimmed), "-1");
            case 3:
                expected.add("$" + i);
                return encode("ECHO", Integer.toString(i));
            case 4:
                expected.add(model.isEmpty() ? ":0" : ":1");
                model.clear();
                return encode("DEL", name);
            default:
                model.add("$" + i);
                expected.add(":" + model.size());
                return encode("RPUSH", name, Integer.toString(i));
        }
    }

    @Test
    void repliesWaitForDurability() throws Exception {
        try (RespClient writer = fixture.connect();
                RespClient other = fixture.connect()) {
            assertThat(writer.call("RPUSH", "k", "old")).isEqualTo(":1");
            int before = fixture.store.accepted();
            fixture.store.hold();
            writer.sendRaw(concat(
                    encode("PING"),
                    encode("RPUSH", "k", "new"),
                    encode("LTRIM", "k", "1", "-1"),
                    encode("DEL", "absent"),
                    encode("DEL", "k"),
                    encode("PING")));
            fixture.store.awaitAccepted(before + 4);
            assertThat(writer.read()).isEqualTo("+PONG");
            // The two connections share the event loop and the reading threads, none of which may wait for the writes.
            assertThat(other.call("PING")).isEqualTo("+PONG");
            assertThat(writer.hasInput()).isFalse();
            fixture.store.release();
            writer.reads(":2", "+OK", ":0", ":1", "+PONG");
        }
    }

    /** A transaction must count as in flight until its reply is sent, because its commands are no longer counted. */
    @Test
    void transactionCountsAsInFlightUntilReply() throws Exception {
        Network network = fixture.server.network();
        try (RespClient client = fixture.connect()) {
            assertThat(client.call("MULTI")).isEqualTo("+OK");
            assertThat(client.call("RPUSH", "k", "v".repeat(100_000))).isEqualTo("+QUEUED");
            Eventually.await("the reply is sent", () -> network.inFlightBytes() == 0);
            int before = fixture.store.accepted();
            fixture.store.hold();
            client.send("EXEC");
            fixture.store.awaitAccepted(before + 1);
            assertThat(network.inFlightBytes()).isGreaterThan(100_000);
            fixture.store.release();
            assertThat(client.read()).isEqualTo("[:1]");
            Eventually.await("nothing is held", () -> network.inFlightBytes() == 0);
        }
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** Writes that do not fit into the store must wait in order, but not on the event loop, which other clients use. */
    @Test
    void writesThatDoNotFitWaitForSpaceInOrder() throws Exception {
        fixture.store.rejectNextTry();
        try (RespClient client = fixture.connect()) {
            client.sendRaw(
                    concat(encode("RPUSH", "k", "a"), encode("RPUSH", "k", "b"), encode("LRANGE", "k", "0", "-1")));
            assertThat(client.read()).isEqualTo(":1");
            assertThat(client.read()).isEqualTo(":2");
            assertThat(client.read()).isEqualTo("[$a, $b]");
        }
    }

    /** A write that waits for space must hold neither a reading thread nor a lock. */
    @Test
    void otherRequestsAreServedWhileLargeWritesWaitForSpace() throws Exception {
        int writes = 2 * ServerConfig.defaultReaders();
        String large = "v".repeat(10_000);
        fixture.store.takeSpaceOf(large.length());
        List<RespClient> clients = new ArrayList<>();
        try (RespClient other = fixture.connect()) {
            for (int i = 0; i < writes; i++) {
                clients.add(fixture.connect());
                clients.get(i).send("RPUSH", "k", large);
            }
            Eventually.await("all have tried twice", () -> fixture.store.largeTries() >= 2 * writes);
            assertThat(other.call("RPUSH", "k", "a")).isEqualTo(":1");
            assertThat(other.call("RPUSH", "new", "b")).isEqualTo(":1");
            assertThat(other.call("LRANGE", "k", "0", "-1")).isEqualTo("[$a]");
            fixture.store.freeSpace();
            for (RespClient client : clients) {
                assertThat(client.read()).startsWith(":");
            }
            assertThat(other.call("LLEN", "k")).isEqualTo(":" + (writes + 1));
        } finally {
            for (RespClient client : clients) {
                client.close();
            }
        }
    }

    /** Copies that waiting writes keep could use all memory for replies, and no write could then continue. */
    @Test
    void writeThatWaitsForSpaceHoldsNoCopies() throws Exception {
        Network network = fixture.server.network();
        String large = "v".repeat(100_000);
        try (RespClient client = fixture.connect()) {
            assertThat(client.call("RPUSH", "k", large)).isEqualTo(":1");
            fixture.store.takeSpaceOf(large.length());
            assertThat(client.call("MULTI")).isEqualTo("+OK");
            assertThat(client.call("LRANGE", "k", "0", "-1")).isEqualTo("+QUEUED");
            assertThat(client.call("RPUSH", "k", large)).isEqualTo("+QUEUED");
            client.send("EXEC");
            Eventually.await("it has tried twice", () -> fixture.store.largeTries() >= 2);
            Eventually.await("it holds no copies", () -> network.replyBytes() == 0);
            fixture.store.freeSpace();
            assertThat(client.read()).endsWith(":2]");
        }
    }

    @Test
    void fullStorePausesSocketReadsWithoutLoss() throws Exception {
        int pushes = 20_000;
        fixture.store.takeSpace();
        try (Flood flood = new Flood(fixture.server, encode("RPUSH", "k", "v".repeat(1_000)), pushes);
                RespClient other = fixture.connect()) {
            Flood.untilStuck(fixture.server, List.of(flood));
            fixture.store.awaitWaiter();
            assertThat(other.call("LLEN", "k")).as("reads continue").isEqualTo(":0");
            assertThat(fixture.store.accepted()).isZero();
            assertThat(flood.hasSentAll()).as("20 MB fit").isFalse();
            CompletableFuture<Void> rest = flood.sendRest();
            fixture.store.freeSpace();
            flood.client.readsNumbers(1, pushes);
            rest.join();
        }
    }

    @Test
    void limitsPendingRepliesOfPipeliningClient() throws Exception {
        int pushes = 26_000;
        fixture.store.hold();
        try (Flood flood = new Flood(fixture.server, encode("RPUSH", "k", "v".repeat(1_000)), pushes);
                RespClient other = fixture.connect()) {
            Flood.untilStuck(fixture.server, List.of(flood));
            assertThat(other.call("PING")).isEqualTo("+PONG");
            assertThat(fixture.store.accepted())
                    .as("replies that may be pending")
                    .isEqualTo(1_024);
            assertThat(flood.hasSentAll()).isFalse();
            CompletableFuture<Void> rest = flood.sendRest();
            fixture.store.release();
            flood.client.readsNumbers(1, pushes);
            rest.join();
        }
    }

    @Test
    void concurrentConnectionsMatchModel() {
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int c = 0; c < 20; c++) {
            int number = c;
            clients.add(CompletableFuture.runAsync(() -> {
                try (RespClient client = fixture.connect()) {
                    runModel(client, new Random(number), "doc" + number);
                } catch (IOException problem) {
                    throw new UncheckedIOException(problem);
                }
            }));
        }
        clients.forEach(CompletableFuture::join);
    }

    @Test
    void returnsLongListBeforeLaterReplies() throws Exception {
        try (RespClient client = fixture.connect()) {
            String value = "v".repeat(100_000);
            int values = 300;
            for (int i = 0; i < values; i++) {
                client.call("RPUSH", "k", value);
            }
            client.sendRaw(concat(encode("LRANGE", "k", "0", "-1"), encode("RPUSH", "k", "x"), encode("LLEN", "k")));
            assertThat(client.read()).hasSize("[]".length() + values * (value.length() + "$, ".length()) - 2);
            client.reads(":" + (values + 1), ":" + (values + 1));
        }
    }

    @Test
    void halfClosedClientReceivesReplies() throws Exception {
        try (RespClient client = fixture.connect()) {
            fixture.store.hold();
            client.sendRaw(concat(encode("RPUSH", "k", "v"), encode("LLEN", "k")));
            client.finishSending();
            fixture.store.awaitAccepted(1);
            fixture.store.release();
            client.reads(":1", ":1");
            assertThat(client.atEnd()).isTrue();
        }
    }

    /** A half-closed client must receive all replies, even to requests that were not decoded when its input ended. */
    @Test
    void halfClosedClientReceivesRepliesToUndecodedRequests() throws Exception {
        int pushes = 1_500;
        try (RespClient client = fixture.connect()) {
            fixture.store.hold();
            client.sendRaw("RPUSH k v\n".repeat(pushes).getBytes(UTF_8));
            client.finishSending();
            fixture.store.awaitAccepted(1_024);
            fixture.store.release();
            client.readsNumbers(1, pushes);
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void stopFinishesAcceptedRequests() throws Exception {
        try (RespClient client = fixture.connect()) {
            fixture.store.hold();
            client.send("RPUSH", "k", "v");
            fixture.store.awaitAccepted(1);
            CompletableFuture<Void> stop = CompletableFuture.runAsync(fixture.server::close);
            fixture.store.release();
            assertThat(client.read()).isEqualTo(":1");
            assertThat(client.atEnd()).isTrue();
            stop.join();
        }
    }

    @Test
    void stopFinishesAcceptedAndRejectsLaterRequests() throws Exception {
        try (RespClient client = fixture.connect();
                RespClient idle = fixture.connect()) {
            assertThat(idle.call("PING")).isEqualTo("+PONG");
            fixture.store.hold();
            client.send("RPUSH", "k", "v");
            fixture.store.awaitAccepted(1);
            Thread stop = new Thread(fixture.server::close, "stop");
            stop.start();
            // The server accepts no more connections, and has notified the existing ones or is about to do so.
            assertThat(idle.atEnd()).isTrue();
            Eventually.awaitWaitingOrDone(stop);
            Flood.turn(fixture.server.network());
            long held = fixture.server.network().inFlightBytes();
            client.send("PING");
            Eventually.await("it is read", () -> fixture.server.network().inFlightBytes() > held);
            fixture.store.release();
            client.reads(":1", "-ERR the server is stopping");
            assertThat(client.atEnd()).isTrue();
            stop.join();
        }
    }

    @Test
    void abruptDisconnectsReleaseConnectionsAndReplies() throws Exception {
        for (int i = 0; i < 20; i++) {
            RespClient client = fixture.connect();
            client.sendRaw(concat(encode("RPUSH", "k", "v"), encode("LRANGE", "k", "0", "-1")));
            client.close();
        }
        try (RespClient client = fixture.connect()) {
            assertThat(client.call("PING")).isEqualTo("+PONG");
            Eventually.await(
                    "only this connection is open",
                    () -> fixture.server.network().connections().size() == 1);
            Eventually.await(
                    "no reply is in memory", () -> fixture.server.network().replyBytes() == 0);
        }
    }
}
