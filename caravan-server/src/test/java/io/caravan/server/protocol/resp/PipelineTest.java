package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.Flood;
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

/** Pipelined requests: order, durability, backpressure, and the end of connections. */
class PipelineTest {
    @AutoClose
    private ServerFixture fixture;

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture();
    }

    private static byte[] request(String... words) {
        byte[][] bytes = new byte[words.length][];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = words[i].getBytes(UTF_8);
        }
        try {
            return RespClient.encode(bytes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    @Test
    void answersAreInTheOrderOfRequestsAndReadsSeeTheWritesBeforeThem() {
        Seeds.forEach(5, seed -> {
            try (RespClient client = fixture.connect()) {
                runModel(client, new Random(seed), "doc" + seed);
            }
        });
    }

    /** Sends random requests over one connection at once and compares the replies with a model. */
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
        for (String answer : expected) {
            assertThat(client.read()).isEqualTo(answer);
        }
        sender.join();
    }

    private static byte[] step(Random random, String name, int i, List<String> model, List<String> expected) {
        switch (random.nextInt(9)) {
            case 0:
                expected.add(":" + model.size());
                return request("LLEN", name);
            case 1:
                expected.add(model.toString());
                return request("LRANGE", name, "0", "-1");
            case 2:
                int dropped = Math.min(model.size(), random.nextInt(4));
                model.subList(0, dropped).clear();
                expected.add("+OK");
                return request("LTRIM", name, Integer.toString(dropped), "-1");
            case 3:
                expected.add("$" + i);
                return request("ECHO", Integer.toString(i));
            case 4:
                expected.add(model.isEmpty() ? ":0" : ":1");
                model.clear();
                return request("DEL", name);
            default:
                model.add("$" + i);
                expected.add(":" + model.size());
                return request("RPUSH", name, Integer.toString(i));
        }
    }

    @Test
    void nothingIsAnsweredBeforeItIsDurable() throws Exception {
        try (RespClient writer = fixture.connect();
                RespClient other = fixture.connect()) {
            assertThat(writer.call("RPUSH", "k", "old")).isEqualTo(":1");
            int before = fixture.store.accepted();
            fixture.store.hold();
            writer.sendRaw(concat(
                    request("PING"),
                    request("RPUSH", "k", "new"),
                    request("LTRIM", "k", "1", "-1"),
                    request("DEL", "absent"),
                    request("DEL", "k"),
                    request("PING")));
            fixture.store.awaitAccepted(before + 4);
            assertThat(writer.read()).isEqualTo("+PONG");
            // The other connection shares the event loop or a reading thread with this one, and neither waits for the
            // writes.
            assertThat(other.call("PING")).isEqualTo("+PONG");
            assertThat(writer.hasInput()).isFalse();
            fixture.store.release();
            assertThat(writer.read()).isEqualTo(":2");
            assertThat(writer.read()).isEqualTo("+OK");
            assertThat(writer.read()).isEqualTo(":0");
            assertThat(writer.read()).isEqualTo(":1");
            assertThat(writer.read()).isEqualTo("+PONG");
        }
    }

    /** Its commands have been answered, so no other count includes them. */
    @Test
    void aTransactionCountsAsARequestUntilItsReply() throws Exception {
        Network network = fixture.server.network();
        try (RespClient client = fixture.connect()) {
            assertThat(client.call("MULTI")).isEqualTo("+OK");
            assertThat(client.call("RPUSH", "k", "v".repeat(100_000))).isEqualTo("+QUEUED");
            Eventually.await("it is answered", () -> network.inFlightBytes() == 0);
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

    @Test
    void withoutRoomInTheStoreNothingIsReadFromTheSocketAndNothingIsLost() throws Exception {
        int pushes = 20_000;
        fixture.store.takeRoom();
        try (Flood flood = new Flood(fixture.server, request("RPUSH", "k", "v".repeat(1_000)), pushes);
                RespClient other = fixture.connect()) {
            Flood.untilStuck(fixture.server, List.of(flood));
            fixture.store.awaitWaiter();
            assertThat(other.call("LLEN", "k")).as("reads go on").isEqualTo(":0");
            assertThat(fixture.store.accepted()).isZero();
            assertThat(flood.hasSentAll()).as("20 MB fit").isFalse();
            CompletableFuture<Void> rest = flood.sendRest();
            fixture.store.giveRoom();
            assertAnswered(flood, pushes);
            rest.join();
        }
    }

    private static void assertAnswered(Flood flood, int pushes) throws IOException {
        for (int i = 1; i <= pushes; i++) {
            assertThat(flood.client.read()).isEqualTo(":" + i);
        }
    }

    @Test
    void aClientThatPipelinesWithoutReadingIsHeldBack() throws Exception {
        int pushes = 26_000;
        fixture.store.hold();
        try (Flood flood = new Flood(fixture.server, request("RPUSH", "k", "v".repeat(1_000)), pushes);
                RespClient other = fixture.connect()) {
            Flood.untilStuck(fixture.server, List.of(flood));
            assertThat(other.call("PING")).isEqualTo("+PONG");
            assertThat(fixture.store.accepted())
                    .as("answers that may be pending")
                    .isEqualTo(1_024);
            assertThat(flood.hasSentAll()).isFalse();
            CompletableFuture<Void> rest = flood.sendRest();
            fixture.store.release();
            assertAnswered(flood, pushes);
            rest.join();
        }
    }

    @Test
    void manyConnectionsAtOnce() {
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
    void aLongListIsStreamedToASlowReader() throws Exception {
        try (RespClient client = fixture.connect()) {
            String value = "v".repeat(100_000);
            int values = 300;
            for (int i = 0; i < values; i++) {
                client.call("RPUSH", "k", value);
            }
            client.sendRaw(concat(request("LRANGE", "k", "0", "-1"), request("RPUSH", "k", "x"), request("LLEN", "k")));
            assertThat(client.read()).hasSize("[]".length() + values * (value.length() + "$, ".length()) - 2);
            assertThat(client.read()).isEqualTo(":" + (values + 1));
            assertThat(client.read()).isEqualTo(":" + (values + 1));
        }
    }

    @Test
    void aClientThatWillSendNoMoreGetsItsAnswers() throws Exception {
        try (RespClient client = fixture.connect()) {
            fixture.store.hold();
            client.sendRaw(concat(request("RPUSH", "k", "v"), request("LLEN", "k")));
            client.finishSending();
            fixture.store.awaitAccepted(1);
            fixture.store.release();
            assertThat(client.read()).isEqualTo(":1");
            assertThat(client.read()).isEqualTo(":1");
            assertThat(client.atEnd()).isTrue();
        }
    }

    /** Some of the requests are not decoded yet when the server detects the end of input. */
    @Test
    void evenTheAnswersToRequestsThatHadToWait() throws Exception {
        int pushes = 1_500;
        try (RespClient client = fixture.connect()) {
            fixture.store.hold();
            client.sendRaw("RPUSH k v\n".repeat(pushes).getBytes(UTF_8));
            client.finishSending();
            fixture.store.awaitAccepted(1_024);
            fixture.store.release();
            for (int i = 1; i <= pushes; i++) {
                assertThat(client.read()).isEqualTo(":" + i);
            }
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void aStopFinishesWhatWasAccepted() throws Exception {
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
    void aServerThatStopsRefusesWhatComesLaterAfterAnsweringWhatCameBefore() throws Exception {
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
            assertThat(client.read()).isEqualTo(":1");
            assertThat(client.read()).isEqualTo("-ERR the server is stopping");
            assertThat(client.atEnd()).isTrue();
            stop.join();
        }
    }

    @Test
    void clientsThatVanishLeaveNothingBehind() throws Exception {
        for (int i = 0; i < 20; i++) {
            RespClient client = fixture.connect();
            client.sendRaw(concat(request("RPUSH", "k", "v"), request("LRANGE", "k", "0", "-1")));
            client.close();
        }
        try (RespClient client = fixture.connect()) {
            assertThat(client.call("PING")).isEqualTo("+PONG");
        }
    }
}
