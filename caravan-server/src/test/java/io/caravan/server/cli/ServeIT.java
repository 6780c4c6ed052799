package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a server process that stores its files on a disk and is stopped or killed. */
class ServeIT {
    private static final int SIGKILL_EXIT = 128 + 9;

    @TempDir
    private Path directory;

    /** Pushes numbers in a pipeline until the connection breaks, and returns the number of replies. */
    static long pushUntilBroken(ServerProcess server, String name, CompletableFuture<Void> underLoad) {
        long replied = 0;
        try (RespClient client = new RespClient(server.awaitAddress())) {
            long sent = 0;
            while (true) {
                while (sent < replied + 200) {
                    client.send("RPUSH", name, Long.toString(sent++));
                }
                String reply = client.read();
                if (reply.equals("-ERR the server is stopping")) {
                    return replied;
                }
                assertThat(reply).isEqualTo(":" + ++replied);
                if (replied == 1_000) {
                    underLoad.complete(null);
                }
            }
        } catch (IOException broken) {
            return replied;
        }
    }

    static void assertHoldsAll(RespClient client, String name, long replied) throws IOException {
        String length = client.call("LLEN", name);
        assertThat(Long.parseLong(length.substring(1))).isGreaterThanOrEqualTo(replied);
        StringBuilder expected = new StringBuilder("[");
        for (long i = 0; i < replied; i++) {
            expected.append(i == 0 ? "$" : ", $").append(i);
        }
        assertThat(client.call("LRANGE", name, "0", Long.toString(replied - 1)))
                .isEqualTo(expected.append(']').toString());
    }

    private long loadAnd(Ending ending) throws Exception {
        try (ServerProcess server = ServerJvm.start(directory.resolve("data"))) {
            CompletableFuture<Void> underLoad = new CompletableFuture<>();
            CompletableFuture<Long> pushed =
                    CompletableFuture.supplyAsync(() -> pushUntilBroken(server, "k", underLoad));
            CompletableFuture.anyOf(underLoad, pushed).join();
            ending.end(server);
            return pushed.join();
        }
    }

    private interface Ending {
        void end(ServerProcess server) throws IOException;
    }

    @Test
    void killUnderPipelinedLoadLosesNoAcknowledgedValue() throws Exception {
        long replied = loadAnd(server -> assertThat(server.kill()).isEqualTo(SIGKILL_EXIT));
        assertThat(replied).isGreaterThanOrEqualTo(1_000);
        try (ServerFixture server = new ServerFixture(SmallFiles.open(directory.resolve("data")));
                RespClient client = server.connect()) {
            assertHoldsAll(client, "k", replied);
        }
    }

    @Test
    @Tag("slow")
    void stopsCleanlyUnderPipelinedLoad() throws Exception {
        long replied = loadAnd(server -> assertThat(server.terminate()).isZero());
        assertThat(DurableListStore.verify(directory.resolve("data"), VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
        try (ServerFixture server = new ServerFixture(SmallFiles.open(directory.resolve("data")));
                RespClient client = server.connect()) {
            assertHoldsAll(client, "k", replied);
        }
    }

    @Test
    @Tag("slow")
    void spacesSurviveKill() throws Exception {
        String space;
        try (ServerProcess server = ServerJvm.start(directory.resolve("data"));
                RespClient client = new RespClient(server.awaitAddress())) {
            client.call("CARAVAN.SPACE", "SET", "gone/", "max-values", "1");
            client.call("RPUSH", "kept/d", "1", "2", "3");
            client.call("CARAVAN.SPACE", "SET", "kept/", "retain-values", "2", "quota-bytes", "2");
            client.call("RPUSH", "kept/d", "4");
            assertThat(client.call("CARAVAN.SPACE", "REMOVE", "gone/")).isEqualTo(":1");
            space = client.call("CARAVAN.SPACE", "GET", "kept/");
            assertThat(space).contains("$quota-bytes, :2, $documents, :1, $bytes, :2, ");
            server.kill();
        }
        try (ServerFixture server = new ServerFixture(SmallFiles.open(directory.resolve("data")));
                RespClient client = server.connect()) {
            assertThat(client.call("CARAVAN.SPACE", "LIST"))
                    .startsWith("[[" + space.substring(1, space.indexOf("$writes")))
                    .doesNotContain("gone/");
            assertThat(client.call("RPUSH", "kept/e", "5")).startsWith("-QUOTA ");
            assertThat(client.call("RPUSH", "kept/d", "5")).startsWith(":");
            assertThat(client.call("LRANGE", "kept/d", "0", "-1")).isEqualTo("[$4, $5]");
        }
    }
}
