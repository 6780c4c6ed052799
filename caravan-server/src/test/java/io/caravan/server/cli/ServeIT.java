package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.server.protocol.resp.RespClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real process on a real disk: stopped, killed, and spoken to by Redis's own client. */
class ServeIT {
    private static final int SIGKILL_EXIT = 128 + 9;

    @TempDir
    private Path directory;

    /** Pushes numbers, many on their way at once, until the connection breaks; tells how many were answered. */
    static long pushUntilBroken(ServerProcess server, String name, CompletableFuture<Void> underLoad)
            throws IOException {
        long answered = 0;
        try (RespClient client = server.connect()) {
            long sent = 0;
            while (true) {
                while (sent < answered + 200) {
                    client.send("RPUSH", name, Long.toString(sent++));
                }
                String answer = client.read();
                if (answer.equals("-ERR the server is stopping")) {
                    return answered;
                }
                assertThat(answer).isEqualTo(":" + ++answered);
                if (answered == 1_000) {
                    underLoad.complete(null);
                }
            }
        } catch (IOException broken) {
            return answered;
        }
    }

    static void assertHoldsAll(ServerProcess server, String name, long answered) throws IOException {
        try (RespClient client = server.connect()) {
            String length = client.call("LLEN", name);
            assertThat(Long.parseLong(length.substring(1))).isGreaterThanOrEqualTo(answered);
            StringBuilder expected = new StringBuilder("[");
            for (long i = 0; i < answered; i++) {
                expected.append(i == 0 ? "$" : ", $").append(i);
            }
            assertThat(client.call("LRANGE", name, "0", Long.toString(answered - 1)))
                    .isEqualTo(expected.append(']').toString());
        }
    }

    private long loadAnd(Ending ending) throws Exception {
        try (ServerProcess server = ServerProcess.start(directory.resolve("data"))) {
            CompletableFuture<Void> underLoad = new CompletableFuture<>();
            CompletableFuture<Long> pushed = CompletableFuture.supplyAsync(() -> {
                try {
                    return pushUntilBroken(server, "k", underLoad);
                } catch (IOException impossible) {
                    throw new AssertionError(impossible);
                }
            });
            CompletableFuture.anyOf(underLoad, pushed).join();
            ending.end(server);
            return pushed.join();
        }
    }

    private interface Ending {
        void end(ServerProcess server) throws InterruptedException;
    }

    @Test
    void killedUnderPipelinedLoadItHasEveryAnsweredValue() throws Exception {
        long answered = loadAnd(server -> assertThat(server.kill()).isEqualTo(SIGKILL_EXIT));
        assertThat(answered).isGreaterThanOrEqualTo(1_000);
        try (ServerProcess server = ServerProcess.start(directory.resolve("data"))) {
            assertHoldsAll(server, "k", answered);
        }
    }

    @Test
    void toldToStopUnderPipelinedLoadItStopsCleanly() throws Exception {
        long answered = loadAnd(server -> assertThat(server.terminate()).isZero());
        assertThat(DurableListStore.verify(directory.resolve("data"), VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
        try (ServerProcess server = ServerProcess.start(directory.resolve("data"))) {
            assertHoldsAll(server, "k", answered);
        }
    }

    @Test
    void redisCliWorks() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/redis-cli")), "redis-cli is not installed");
        try (ServerProcess server = ServerProcess.start(directory.resolve("data"))) {
            assertThat(redisCli(server, "RPUSH", "k", "a", "b c", "d")).isEqualTo("3\n");
            assertThat(redisCli(server, "LTRIM", "k", "1", "-1")).isEqualTo("OK\n");
            assertThat(redisCli(server, "LRANGE", "k", "0", "-1")).isEqualTo("b c\nd\n");
            assertThat(redisCli(server, "DEL", "k")).isEqualTo("1\n");
            assertThat(redisCli(server, "EXISTS", "k")).isEqualTo("0\n");
        }
    }

    private static String redisCli(ServerProcess server, String... words) throws Exception {
        String[] command = new String[words.length + 3];
        command[0] = "/usr/bin/redis-cli";
        command[1] = "-p";
        command[2] = Integer.toString(server.port());
        System.arraycopy(words, 0, command, 3, words.length);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return output;
    }
}
