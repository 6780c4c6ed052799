package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the {@code dump} command on the files of a store. */
@Timeout(60)
class DumpCommandTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;

    private volatile CommandRun last = CommandRun.with(Map.of(), new byte[0]);

    private ListStore open() {
        return DurableListStore.open(StoreConfig.builder(directory)
                .maxValueBytes(4 << 10)
                .logSegmentBytes(32 << 10)
                .logBufferBytes(16 << 10)
                .heapSegmentBytes(32 << 10)
                .build());
    }

    private CommandRun run(String command, String... options) {
        last = CommandRun.with(Map.of(), new byte[0]);
        return last.run(null, CommandRun.words(List.of(command, directory.toString()), options));
    }

    private List<JsonNode> lines(String type) throws IOException {
        List<JsonNode> found = new ArrayList<>();
        for (String line : last.out().split("\n")) {
            JsonNode object = JSON.readTree(line);
            if (object.get("type").asText().equals(type)) {
                found.add(object);
            }
        }
        return found;
    }

    @Test
    void dumpPrintsWrittenRecords() throws IOException {
        try (ListStore store = open()) {
            store.append(5, "one".getBytes(UTF_8)).join();
            store.append(5, new byte[] {(byte) 0xFF}).join();
            store.trimTo(5, 1).join();
            store.append(6, new byte[0]).join();
            store.delete(6).join();
            run("dump", "--values").exits(0);
        }
        assertThat(lines("append"))
                .extracting(line -> line.get("list").asLong())
                .containsExactly(5L, 5L, 6L);
        assertThat(lines("append").get(0).get("value").asText()).isEqualTo("one");
        assertThat(lines("append").get(1).get("valueBase64").asText())
                .isEqualTo(Base64.getEncoder().encodeToString(new byte[] {(byte) 0xFF}));
        assertThat(lines("trim").get(0).get("first").asLong()).isOne();
        assertThat(lines("delete").get(0).get("list").asLong()).isEqualTo(6);
        assertThat(lines("checkpoint")).hasSize(1);
        assertThat(lines("end").get(0).get("damage").asLong()).isZero();
        run("dump", "5").exits(0);
        assertThat(lines("value")).singleElement().satisfies(value -> {
            assertThat(value.get("sequence").asLong()).isOne();
            assertThat(value.get("in").asText()).isEqualTo("heap");
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1_000_000_000_000_000_000L, Long.MAX_VALUE, Long.MIN_VALUE})
    void dumpPrintsListWithAnyId(long id) throws IOException {
        try (ListStore store = open()) {
            store.append(id, "one".getBytes(UTF_8)).join();
        }
        run("dump", "--", String.valueOf(id)).exits(0);
        assertThat(lines("value")).singleElement().satisfies(value -> {
            assertThat(value.get("list").asLong()).isEqualTo(id);
            assertThat(value.get("value").asText()).isEqualTo("one");
        });
        run("dump", "9223372036854775808").exits(2, "name a list by its number");
    }

    private void damageLog() throws IOException {
        try (ListStore store = open()) {
            appendTo(store);
        }
        flipFirstFrame();
    }

    private static void appendTo(ListStore store) {
        for (int i = 0; i < 20; i++) {
            store.append(5, new byte[3_000]).join();
        }
    }

    private void flipFirstFrame() throws IOException {
        Path log = directory.resolve("log-0000000000000000.wal");
        byte[] bytes = Files.readAllBytes(log);
        bytes[4096 + 60] ^= 1;
        Files.write(log, bytes);
    }

    @Test
    void printsDamageAndContinuesAfterIt() throws IOException {
        damageLog();
        run("log").exits(1);
        assertThat(lines("damage")).singleElement().satisfies(damage -> {
            assertThat(damage.get("file").asText()).isEqualTo("log-0000000000000000.wal");
            assertThat(damage.get("offset").asLong()).isEqualTo(4096);
            assertThat(damage.get("error").asText()).contains("no valid frame");
        });
        assertThat(lines("append")).hasSize(19);
        run("dump").exits(1);
        assertThat(lines("end").get(0).get("damage").asLong()).isPositive();
    }

    @Test
    void repairReportsWhatItCutsOff() throws IOException {
        Path open = directory;
        try (ListStore store = open()) {
            appendTo(store);
            // A copy of the files of an open store is as after a crash.
            directory = Files.createDirectory(directory.resolve("crashed"));
            for (Path file : Files.list(open).filter(Files::isRegularFile).toList()) {
                Files.copy(file, directory.resolve(file.getFileName()));
            }
        }
        flipFirstFrame();
        run("repair", "--dry-run").exits(3);
        assertThat(last.out().lines())
                .hasSizeGreaterThan(1)
                .first(STRING)
                .matches("\\Q" + directory
                        + "\\E: the log would be cut off at LSN [0-9]+; files that would be changed or" + " removed:");
        run("repair", "--keep", directory + "-kept").exits(0);
        assertThat(last.out().lines())
                .hasSizeGreaterThan(1)
                .first(STRING)
                .matches("\\Q" + directory + "\\E: the log was cut off at LSN [0-9]+; copies of the changed files:");
        run("repair", "--keep", directory + "-unused").exits(0);
        assertThat(last.out()).isEqualTo(directory + " can be opened as it is; nothing was changed\n");
    }

    @Test
    void followsLogUntilInterrupted() throws Exception {
        try (ListStore store = open()) {
            store.append(5, "before".getBytes(UTF_8)).join();
            Thread follower = new Thread(() -> run("log", "--follow", "--values"));
            follower.start();
            Eventually.await("the first value is printed", () -> last.out().contains("before"));
            for (int i = 0; i < 50; i++) {
                store.append(5, ("value " + i + "x".repeat(2_000)).getBytes(UTF_8))
                        .join();
            }
            Eventually.await("the last value is printed", () -> last.out().contains("value 49"));
            follower.interrupt();
            follower.join();
        }
        assertThat(lines("append"))
                .extracting(line -> line.get("sequence").asInt())
                .hasSize(51)
                .isSorted();
        assertThat(lines("segment")).hasSizeGreaterThan(2);
    }

    @Test
    void exitCodeDistinguishesMissingDataFromUsageErrors() {
        open().close();
        run("dump", "5").exits(3, "has no 5");
        run("dump", "letters").exits(2);
        run("dump", "").exits(2);
        run("dump", "5", "--checkpoint").exits(2);
        run("log", "--from", "-1").exits(2);
        directory = directory.resolve("absent");
        run("log").exits(1);
        run("dump").exits(1);
    }
}
