package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.ServerJvm;
import io.caravan.testing.Rounds;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests RESP with a server process: atomicity after SIGKILL, and replies larger than the server's memory. */
@Tag("slow")
class RespIT {
    private static final int SIGKILL_EXIT = 128 + 9;
    private static final int ON_THEIR_WAY = 50;

    @TempDir
    private Path directory;

    /** Sends pipelined transactions until the connection breaks, and returns the number of replies. */
    private static long transactUntilBroken(ServerProcess server, CompletableFuture<Void> underLoad)
            throws IOException {
        long replied = 0;
        try (RespClient client = new RespClient(server.awaitAddress())) {
            long sent = 0;
            while (true) {
                while (sent < replied + ON_THEIR_WAY) {
                    String value = Long.toString(sent++);
                    client.send("MULTI");
                    client.send("RPUSH", "a", value);
                    client.send("RPUSH", "new" + value, value);
                    client.send("CARAVAN.APPEND", "b", "IFSEQ", value, value);
                    client.send("EXEC");
                }
                for (String expected : new String[] {"+OK", "+QUEUED", "+QUEUED", "+QUEUED"}) {
                    assertThat(client.read()).isEqualTo(expected);
                }
                assertThat(client.read()).isEqualTo("[:" + (replied + 1) + ", :1, :" + replied + "]");
                if (++replied == 500) {
                    underLoad.complete(null);
                }
            }
        } catch (IOException broken) {
            return replied;
        }
    }

    @Test
    void transactionsAreAtomicAndDurableAfterSigkill() throws Exception {
        long replied;
        try (ServerProcess server = ServerJvm.start(directory.resolve("data"))) {
            CompletableFuture<Void> underLoad = new CompletableFuture<>();
            CompletableFuture<Long> done = CompletableFuture.supplyAsync(() -> {
                try {
                    return transactUntilBroken(server, underLoad);
                } catch (IOException impossible) {
                    throw new AssertionError(impossible);
                }
            });
            CompletableFuture.anyOf(underLoad, done).join();
            assertThat(server.kill()).isEqualTo(SIGKILL_EXIT);
            replied = done.join();
        }
        assertThat(replied).isGreaterThanOrEqualTo(500);
        try (ServerFixture server = new ServerFixture(SmallFiles.open(directory.resolve("data")));
                RespClient client = server.connect()) {
            String kept = client.call("LLEN", "a");
            long transactions = Long.parseLong(kept.substring(1));
            assertThat(transactions).isGreaterThanOrEqualTo(replied);
            assertThat(client.call("LLEN", "b")).isEqualTo(kept);
            assertThat(client.call("DBSIZE")).isEqualTo(":" + (transactions + 2));
            assertThat(client.call("EXISTS", "new" + (transactions - 1), "new" + transactions))
                    .isEqualTo(":1");
        }
    }

    @Test
    @Tag("rounds")
    void streamsReplyLargerThanJvmHeap() throws Exception {
        int valueBytes = 1024 * 1024 - 100;
        int values = Rounds.of(128, 1024);
        try (ServerProcess server = ServerJvm.start(
                        directory.resolve("data"), List.of("-Xmx64m"), Map.of(), directory.resolve("log"));
                RespClient client = new RespClient(server.awaitAddress())) {
            push(client, values, valueBytes);
            client.send("LRANGE", "k", "0", "-1");
            String count = "*" + values + "\r\n";
            assertThat(new String(client.readRaw(count.length()), UTF_8)).isEqualTo(count);
            for (int i = 0; i < values; i++) {
                byte[] value = client.readRaw("$1048476\r\n\r\n".length() + valueBytes);
                assertThat(value[valueBytes]).isEqualTo((byte) i);
            }
            assertThat(client.call("PING")).isEqualTo("+PONG");
        }
    }

    private static void push(RespClient client, int values, int valueBytes) throws IOException {
        byte[] value = new byte[valueBytes];
        for (int i = 0; i < values; i++) {
            Arrays.fill(value, (byte) i);
            client.sendRaw(RespClient.encode("RPUSH".getBytes(UTF_8), "k".getBytes(UTF_8), value));
            if (i >= 4) {
                assertThat(client.read()).isEqualTo(":" + (i - 3));
            }
        }
        for (int i = values - 3; i <= values; i++) {
            assertThat(client.read()).isEqualTo(":" + i);
        }
    }
}
