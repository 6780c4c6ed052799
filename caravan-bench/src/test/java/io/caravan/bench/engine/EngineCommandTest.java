package io.caravan.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.Main;
import io.caravan.bench.SuiteRun;
import io.caravan.bench.peers.Peer;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the engine suite with tiny counts. */
@Tag("slow")
class EngineCommandTest {
    /** The exit status of a process terminated by SIGTERM. */
    private static final int SIGTERM = 128 + 15;

    private static final List<String> RATES = List.of("appends/s", "p50, us", "ns an entry", "GB/s", "log MB/s");

    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void measuresAndReports() throws IOException {
        JsonNode report = SuiteRun.report("engine", directory);
        assertThat(report.path("machine").path("cores").asText()).isNotEmpty();
        assertThat(rowsOf(report)).containsExactlyInAnyOrderElementsOf(expectedRows());
        for (JsonNode row : report.path("rows")) {
            assertThat(row.path("figures")).as(row.toString()).isNotEmpty();
            for (String figure : RATES) {
                JsonNode rate = row.path("figures").path(figure);
                assertThat(rate.isMissingNode() || rate.path("median").asDouble() > 0)
                        .as(row.toString())
                        .isTrue();
            }
        }
        SuiteRun.assertPictures(
                directory,
                "engine",
                "appends-fsynced",
                "appends-not-fsynced",
                "one-writer",
                "many-writers",
                "list-reads",
                "large-values");
        assertThat(directory.resolve("out/engine.md")).content().contains("| workload", "durability", "by hand");
    }

    /** Returns the workload, the system, and the durability of each row. */
    private static List<String> rowsOf(JsonNode report) {
        List<String> rows = new ArrayList<>();
        report.path("rows")
                .forEach(row -> rows.add(row.path("workload").asText() + ": "
                        + row.path("system").asText() + ", "
                        + row.path("durability").asText()));
        return rows;
    }

    private static List<String> expectedRows() {
        List<String> rows = new ArrayList<>();
        String few = "2,000 appends, one producer: ";
        String many = "4,000 appends, one producer: ";
        for (String level : List.of("SYNC", "PROCESS", "MEMORY")) {
            rows.add(few + "Caravan, " + level);
            rows.add(few + "Caravan, size found, " + level);
            rows.add(many + "Caravan, " + level);
            rows.add("one writer that waits for each: Caravan, " + level);
            rows.add("64 writers that wait for each: Caravan, " + level);
        }
        rows.add(many + "Caravan, size found, SYNC");
        for (Peer peer : Peer.values()) {
            rows.add(few + peer.title() + ", synced every 1,000");
            rows.add(few + peer.title() + ", not synced, committed every 1,000");
            rows.add(many + peer.title() + ", synced every 1,000");
        }
        for (String peer : List.of("Chronicle Queue", "RocksDB, batches", "LMDB")) {
            rows.add(many + peer + ", not synced, committed every 1,000");
        }
        for (String peer : List.of("Chronicle Queue", "RocksDB, batches", "LMDB", "SQLite")) {
            rows.add("one writer that waits for each: " + peer + ", synced each append");
            rows.add("64 writers that wait for each: " + peer + ", synced, shared by all that wait");
        }
        for (String workload : List.of(few, many)) {
            rows.add(workload + "by hand, fsynced");
            rows.add(workload + "the machine, values copied in memory, nothing stored");
        }
        rows.add("one writer that waits for each: the machine, write and fsync of 4 KiB, fsynced");
        rows.add("64 writers that wait for each: the machine, fsyncs, fsynced");
        rows.add("64 writers that wait for each: the machine, wake-ups, nothing stored");
        addReads(rows);
        for (int kib : new int[] {4, 16, 64, 256}) {
            rows.add("values of " + kib + " KiB: Caravan, SYNC");
            rows.add("values of " + kib + " KiB: Caravan, size found, SYNC");
            rows.add("values of " + kib + " KiB: the machine, fsyncs of that size, fsynced");
        }
        return rows;
    }

    private static void addReads(List<String> rows) {
        String reads = "100 lists of 20 entries, ";
        for (String system : List.of(
                "Caravan", "Caravan, lists grown together", "Chronicle Queue", "RocksDB, batches", "LMDB", "SQLite")) {
            rows.add(reads + "one thread: " + system + ", does not matter to reads");
            rows.add(reads + "two threads: " + system + ", does not matter to reads");
        }
        rows.add(reads + "one thread: the machine, values copied in memory, nothing stored");
    }

    @Test
    void sigtermDeletesWorkDirectory() throws IOException {
        Path work = directory.resolve("work");
        List<String> arguments = List.of("shards", "--quick", "--runs", "1000000", "--dir", work.toString());
        try (ChildJvm child = ChildJvm.start(Main.class.getName(), arguments, directory.resolve("log"))) {
            Eventually.await(
                    "a second run", () -> !child.alive() || outputOf(child).contains("run 2 of"));
            assertThat(child.alive()).as(child.output()).isTrue();
            assertThat(work).exists();
            child.terminate();
            assertThat(child.awaitExit()).isEqualTo(SIGTERM);
            assertThat(work).as(child.output()).doesNotExist();
        }
    }

    private static String outputOf(ChildJvm child) {
        try {
            return child.output();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Test
    void rejectsNonEmptyDirectory() throws IOException {
        Files.createFile(directory.resolve("something"));
        assertThat(Main.run("engine", "--quick", "--dir", directory.toString())).isEqualTo(2);
        assertThat(directory.resolve("something")).exists();
    }
}
