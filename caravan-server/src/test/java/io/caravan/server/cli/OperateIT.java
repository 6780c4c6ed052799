package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests the log, the secrets, and the shutdown of a server process. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class OperateIT {
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final String SECRET = "correct-horse-battery";
    private static final String WRONG_SECRET = "wrong-horse-battery";

    @TempDir
    private Path directory;

    private ServerProcess start(Map<String, String> environment, String... options) throws IOException {
        return ServerJvm.start(directory.resolve("data"), List.of(), environment, log(), options);
    }

    private Path log() {
        return directory.resolve("log");
    }

    @Test
    void jsonLogHasOneObjectPerLineAndNoSecrets() throws Exception {
        Path config = Files.writeString(directory.resolve("config"), "log-format = json\n");
        try (ServerProcess server = start(Map.of("CARAVAN_PASSWORD", SECRET), "--config", config.toString());
                RespClient client = new RespClient(server.awaitAddress())) {
            assertThat(client.call("LLEN", "k")).startsWith("-NOAUTH");
            assertThat(client.call("AUTH", WRONG_SECRET)).startsWith("-WRONGPASS");
            assertThat(client.call("AUTH", SECRET)).isEqualTo("+OK");
            assertThat(client.call("RPUSH", "k", "v")).isEqualTo(":1");
            assertThat(client.call(SECRET, SECRET)).startsWith("-ERR unknown command");
            assertThat(server.terminate()).isZero();
        }
        List<String> lines = Files.readAllLines(log()).stream()
                // The server prints this line to the standard output, not to the log.
                .filter(line -> !line.startsWith("caravan serves "))
                .toList();
        assertThat(lines).hasSizeGreaterThan(3);
        for (String line : lines) {
            assertThat(JSON.readTree(line).fieldNames())
                    .toIterable()
                    .contains("timestamp", "level", "loggerName", "threadName", "formattedMessage");
        }
        assertThat(Files.readString(log()))
                .contains("did not authenticate", "authentication: yes", "stopped")
                .doesNotContain(SECRET, WRONG_SECRET);
    }

    @Test
    void rotatesSecretsWithoutClosingConnections() throws Exception {
        String rights = "a.permissions = read, write\n";
        Path users = Files.writeString(directory.resolve("users"), "a.secret = old\n" + rights);
        try (ServerProcess server = start(Map.of(), "--auth-file", users.toString());
                RespClient old = new RespClient(server.awaitAddress());
                RespClient fresh = new RespClient(server.awaitAddress())) {
            assertThat(old.call("AUTH", "a", "old")).isEqualTo("+OK");
            assertThat(fresh.call("AUTH", "a", "new")).startsWith("-WRONGPASS");
            Files.writeString(users, "a.secret = old\na.secret.next = new\n" + rights);
            Eventually.await(
                    "the new secret is valid",
                    () -> reply(fresh, "AUTH", "a", "new").equals("+OK"));
            assertThat(old.call("RPUSH", "k", "v")).isEqualTo(":1");
            Files.writeString(users, "a.secret.next = new\n" + rights);
            Eventually.await(
                    "the old secret is not", () -> reply(old, "EXISTS", "k").matches("-(NOAUTH|NOPERM) .*"));
            assertThat(fresh.call("EXISTS", "k")).isEqualTo(":1");
            assertThat(server.terminate()).isZero();
        }
    }

    private static String reply(RespClient client, String... words) {
        try {
            return client.call(words);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @Test
    void exitsWithOneAfterStopTimeout() throws Exception {
        try (ServerProcess server = start(Map.of(), "--stop-timeout", "1ms");
                RespClient client = new RespClient(server.awaitAddress())) {
            assertThat(client.call("RPUSH", "k", "v")).isEqualTo(":1");
            assertThat(server.terminate()).isOne();
        }
        try (ServerFixture server = new ServerFixture(SmallFiles.open(directory.resolve("data")));
                RespClient client = server.connect()) {
            assertThat(client.call("LRANGE", "k", "0", "-1")).isEqualTo("[$v]");
        }
    }
}
