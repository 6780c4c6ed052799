package io.caravan.server.cli.archive;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.Pruning.PruneReport;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.FileObjectStore;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.cli.client.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the {@code archive} subcommands on an archive in a directory. */
class ArchiveCommandsTest {
    private static final long DAY = Duration.ofDays(1).toMillis();

    @TempDir
    private Path directory;

    private final long now = System.currentTimeMillis();
    private CommandRun last = CommandRun.with(Map.of(), new byte[0]);

    /** Runs, on the archive, a command line of words separated by spaces. */
    private CommandRun run(String line) {
        return run(line.split(" "));
    }

    private CommandRun run(String... words) {
        String[] all = CommandRun.words(List.of(words), "--archive", "file:" + directory);
        last = CommandRun.at(null, CommandRun.words(List.of("archive"), all));
        return last;
    }

    private String out() {
        return last.out();
    }

    private List<JsonNode> json() throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : (Iterable<String>) out().lines()::iterator) {
            lines.add(new ObjectMapper().readTree(line));
        }
        return lines;
    }

    private Archive claim(ObjectStore objects) {
        return Claims.claim(objects, new UUID(1, 2), "host/1", InstantSource.system());
    }

    /** Archives a document with four generations, a document with one generation, and a deleted document. */
    private void fill() {
        try (ObjectStore objects = FileObjectStore.open(directory)) {
            Archive archive = claim(objects);
            for (int day = 40; day > 0; day -= 10) {
                Archiving.archive(archive, new State("letters/1", 1, 50 - day, 60 - day, now - day * DAY));
            }
            Archiving.archive(archive, new State("b\u00fccher", 2, 0, 3, now - 90 * DAY));
            Archiving.archive(archive, new State("gone", 3, 0, 2, now - 60 * DAY));
            Archiving.delete(archive, new State("gone", 3, 0, 2, now - 50 * DAY));
        }
    }

    @Test
    void lsPrintsDocumentsWithStatistics() {
        fill();
        run("ls").exits(0);
        assertThat(out().lines()).hasSize(5);
        assertThat(out().lines().toList())
                .anySatisfy(line -> assertThat(line).matches(" +4 +40-50 .*10d  letters/1"))
                .anySatisfy(line -> assertThat(line).matches(" +1 +0-3 .*90d  b\u00fccher"))
                .anySatisfy(line -> assertThat(line).matches(" +1 +0-2 .*60d  gone  \\(deleted, 50d ago\\)"))
                .last()
                .asString()
                .contains("2 documents and 1 deleted one, 6 generations", directory.toString());
    }

    @Test
    void lsJsonReportsLatestGenerationAndDeletions() throws IOException {
        fill();
        run("ls --json").exits(0);
        assertThat(json()).hasSize(3).anySatisfy(line -> {
            assertThat(line.get("name").asText()).isEqualTo("letters/1");
            assertThat(line.get("generations").asInt()).isEqualTo(4);
            assertThat(line.at("/latest/nextSequence").asLong()).isEqualTo(50);
            assertThat(line.has("deleted")).isFalse();
        });
        assertThat(json()).anySatisfy(line -> {
            assertThat(line.get("name").asText()).isEqualTo("gone");
            assertThat(line.at("/deleted/nextSequence").asLong()).isEqualTo(2);
        });
    }

    @Test
    void lsOfDocumentPrintsItsGenerations() throws IOException {
        fill();
        run("ls letters/1").exits(0);
        assertThat(out().lines()).hasSize(5).element(4).asString().matches(" +4 +40-50 .*10d  20.*Z");
        run("ls gone").exits(0);
        assertThat(out()).contains("deleted at ");
        run("ls letters/1 --json").exits(0);
        assertThat(json()).extracting(line -> line.get("generation").asInt()).containsExactly(1, 2, 3, 4);
        run("ls absent").exits(3, "'absent'");
    }

    @Test
    void lsContinuesAfterDamagedManifest() throws IOException {
        fill();
        Files.writeString(directory.resolve("manifests/gone"), "{}");
        run("ls").exits(1);
        assertThat(out()).contains("letters/1", "2 documents and 0 deleted ones");
        assertThat(last.err()).contains("manifests/gone");
    }

    @Test
    void verifyReportsCleanArchive() {
        fill();
        run("verify").exits(0);
        assertThat(out().lines())
                .singleElement()
                .asString()
                .contains("is clean: 3 documents, 1 of them deleted; 6 snapshots");
    }

    @Test
    void verifyReportsFaultsAndUnreferencedObjects() throws IOException {
        fill();
        Path flipped = snapshot("letters!2f1", 1);
        byte[] bytes = Files.readAllBytes(flipped);
        bytes[bytes.length / 2] ^= 1;
        Files.write(flipped, bytes);
        Files.delete(snapshot("letters!2f1", 2));
        Files.copy(
                snapshot("letters!2f1", 3),
                flipped.resolveSibling("00000000000000f1-0000000000000001-0000000000000001-00000000"));
        Files.writeString(directory.resolve("snapshots/readme"), "mine");
        run("verify").exits(1);
        assertThat(out().lines().filter(line -> line.startsWith("FAULT: ")))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).contains("letters/1", "snapshots/letters!2f1/"));
        assertThat(out())
                .contains("has 2 faults", "4 snapshots read", "no manifest names 1 snapshot", "1 object under");
    }

    private Path snapshot(String form, int generation) throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("snapshots").resolve(form))) {
            return files.sorted().skip(generation - 1).findFirst().orElseThrow();
        }
    }

    @Test
    void verifyJsonEndsWithTotals() throws IOException {
        fill();
        Files.delete(snapshot("gone", 1));
        run("verify --json").exits(1);
        assertThat(json()).hasSize(2);
        assertThat(json().get(0).get("fault").asText()).contains("'gone'");
        assertThat(json().get(1).get("faults").asInt()).isOne();
    }

    @Test
    void pruneDryRunRemovesNothing() throws IOException {
        fill();
        List<Path> before = files();
        run("prune --keep 2 --keep-days 7 --keep-daily 0 --retain 30 --dry-run").exits(0);
        assertThat(out()).contains("would remove 3 generations, 0 leftovers and 1 deleted document");
        String dry = out();
        assertThat(files()).isEqualTo(before);
        run("prune --keep 2 --keep-days 7 --keep-daily 0 --retain 30").exits(0);
        assertThat(out()).isEqualTo(dry.replace("would remove", "removed"));
    }

    /**
     * A prune without options must remove nothing, because the command does not know the options and spaces of the
     * server.
     */
    @Test
    void pruneWithoutOptionsRemovesNothing() throws IOException {
        fill();
        List<Path> before = files();
        run("prune").exits(0);
        assertThat(out()).startsWith("removed 0 generations, 0 leftovers and 0 deleted documents");
        assertThat(last.err()).contains("no generations are selected: use --keep");
        run("prune --retain 36500").exits(0);
        run("prune --keep 100").exits(0);
        assertThat(files()).isEqualTo(before);
    }

    /** A prune with only some of the options must use the server's defaults for the others. */
    @Test
    void pruneKeepsDailyGenerationsByDefault() {
        try (ObjectStore objects = FileObjectStore.open(directory)) {
            Archive archive = claim(objects);
            for (int day = 10; day > 0; day--) {
                Archiving.archive(archive, new State("daily", 1, 0, 11 - day, now - day * DAY));
            }
        }
        run("prune --keep 1").exits(0);
        assertThat(out()).startsWith("removed 0 generations");
        run("prune --keep 1 --keep-daily 0").exits(0);
        assertThat(out().lines().toList()).last().asString().startsWith("removed 9 generations");
    }

    /**
     * A list command may end early without an error if its output is closed, but verify and prune must then fail,
     * because their work is incomplete.
     */
    @Test
    void verifyAndPruneFailIfOutputIsClosed() throws IOException {
        fill();
        List<Path> before = files();
        runIntoClosed("ls").exits(0);
        runIntoClosed("verify").exits(1, "the output was closed before the command was done");
        runIntoClosed("prune").exits(1);
        assertThat(files()).isEqualTo(before);
    }

    private CommandRun runIntoClosed(String command) {
        return CommandRun.withBrokenOutput("Broken pipe")
                .run(null, "archive", command, "--archive", "file:" + directory);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().contains("~"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void pruneKeepsRecentGenerationsAndRemovesDeletedDocuments() {
        fill();
        run("prune --keep 1 --keep-days 25 --keep-daily 0 --retain 30").exits(0);
        assertThat(out().lines()).hasSize(5).last().asString().startsWith("removed 3 generations");
        try (ObjectStore objects = FileObjectStore.open(directory)) {
            Archive archive = Archive.open(objects);
            assertThat(archive.manifest(DocumentName.of("letters/1")).manifest().generations())
                    .extracting(Generation::number)
                    .containsExactly(3L, 4L);
            assertThat(archive.manifest(DocumentName.of("b\u00fccher"))).isNotNull();
            assertThat(archive.manifest(DocumentName.of("gone"))).isNull();
        }
        run("verify").exits(0);
        run("prune --keep 1 --keep-days 25 --keep-daily 0 --retain 30 --json").exits(0);
        assertThat(out().lines()).singleElement().asString().contains("\"generations\":0");
    }

    @Test
    void pruneDescribesManifestsThatStay() {
        assertThat(ArchivePruneCommand.describe(new PruneReport(3, 0, 0, 0, 0, 0, 2, 0), false))
                .isEqualTo("removed 0 generations, 0 leftovers and 0 deleted documents, 0 B, of 3 documents\n"
                        + "2 manifests of documents that were deleted stay, because the service does not support"
                        + " conditional deletions, or does not permit deletions");
    }

    @Test
    void pruneReportsDamagedManifest() throws IOException {
        fill();
        Files.writeString(directory.resolve("manifests/gone"), "{}");
        run("prune --keep 3 --keep-daily 0").exits(1, "manifests/gone");
        assertThat(out()).contains("removed 1 generation,");
    }

    @Test
    void escapesControlCharactersInMessages() {
        String name = "d\ncaravan: all is well\u001b[2K";
        String escaped = "d\\ncaravan: all is well\\u001b[2K";
        try (ObjectStore objects = FileObjectStore.open(directory)) {
            Archive archive = claim(objects);
            for (int day = 2; day > 0; day--) {
                Archiving.archive(archive, new State(name, 1, 0, 3 - day, now - day * DAY));
            }
        }
        run("ls", "no" + name).exits(3);
        assertThat(last.err().lines()).singleElement().asString().contains("'no" + escaped + "'");
        run("prune --keep 1 --keep-days 0 --keep-daily 0").exits(0);
        assertThat(out().lines()).hasSize(2).first().asString().endsWith("  '" + escaped + "'");
    }

    @ParameterizedTest
    @CsvSource({"--keep,0", "--keep-days,-1", "--retain,0", "--jobs,0", "--jobs,257"})
    void reportsInvalidOptionAsUsageError(String option, String value) {
        run("prune", option + "=" + value).exits(2, option);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void reportsMissingArchiveInEmptyDirectory() {
        for (String command : List.of("ls", "verify", "prune")) {
            run(command).exits(1, "there is no archive at file:" + directory);
            assertThat(directory).isEmptyDirectory();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "s4://bucket, is not a valid archive location",
        "s3://bucket/a//b, is not a valid archive location",
        "'', give the location of the archive"
    })
    void reportsInvalidLocationAsUsageError(String url, String message) {
        CommandRun.at(null, "archive", "ls", "--archive", url).exits(2, message);
    }

    @Test
    void requiresArchiveLocation() {
        CommandRun.at(null, "archive", "ls").exits(2, "give the location of the archive");
    }
}
