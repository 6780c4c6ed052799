package io.caravan.server.cli.archive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.FileObjectStore;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.common.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The commands for an archive in a directory. */
class ArchiveCommandsTest {
    private static final long DAY = Duration.ofDays(1).toMillis();

    @TempDir
    private Path folder;

    private final long now = System.currentTimeMillis();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StringWriter err = new StringWriter();

    private int run(String... words) {
        out.reset();
        err.getBuffer().setLength(0);
        Console console = new Console(new ByteArrayInputStream(new byte[0]), out, Map.of(), false);
        CommandLine archive = ArchiveCommand.commands(console).setCaseInsensitiveEnumValuesAllowed(true);
        archive.setErr(CommandRun.withoutProgress(err));
        archive.setOut(new PrintWriter(out, true));
        archive.setExecutionExceptionHandler((problem, command, parsed) -> {
            command.getErr().println(problem.getMessage());
            return CommandLine.ExitCode.SOFTWARE;
        });
        return archive.execute(Stream.concat(Stream.of(words), Stream.of("--archive", "file:" + folder))
                .toArray(String[]::new));
    }

    private String out() {
        return out.toString(UTF_8);
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

    /** Archives two live documents, with four generations and one, and a deleted document. */
    private void fill() {
        try (ObjectStore objects = FileObjectStore.open(folder)) {
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
    void lsPrintsDocumentsWithTheirFigures() {
        fill();
        assertThat(run("ls")).as(err.toString()).isZero();
        assertThat(out().lines()).hasSize(5);
        assertThat(out().lines().toList())
                .anySatisfy(line -> assertThat(line).matches(" +4 +40-50 .*10d  letters/1"))
                .anySatisfy(line -> assertThat(line).matches(" +1 +0-3 .*90d  b\u00fccher"))
                .anySatisfy(line -> assertThat(line).matches(" +1 +0-2 .*60d  gone  \\(deleted, 50d ago\\)"))
                .last()
                .asString()
                .contains("2 documents and 1 deleted one, 6 generations", folder.toString());
    }

    @Test
    void lsAsJsonTellsTheLatestGenerationAndDeletions() throws IOException {
        fill();
        assertThat(run("ls", "--output", "json")).isZero();
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
    void lsOfADocumentPrintsItsGenerations() throws IOException {
        fill();
        assertThat(run("ls", "letters/1")).isZero();
        assertThat(out().lines()).hasSize(5).element(4).asString().matches(" +4 +40-50 .*10d  20.*Z");
        assertThat(run("ls", "gone")).isZero();
        assertThat(out()).contains("deleted at ");
        assertThat(run("ls", "letters/1", "--output", "json")).isZero();
        assertThat(json()).extracting(line -> line.get("generation").asInt()).containsExactly(1, 2, 3, 4);
        assertThat(run("ls", "absent")).isEqualTo(3);
        assertThat(err.toString()).contains("'absent'");
    }

    @Test
    void lsGoesOnBehindADamagedManifest() throws IOException {
        fill();
        Files.writeString(folder.resolve("manifests/gone"), "{}");
        assertThat(run("ls")).isOne();
        assertThat(out()).contains("letters/1", "2 documents and 0 deleted ones");
        assertThat(err.toString()).contains("manifests/gone");
    }

    @Test
    void verifyReadsEverything() {
        fill();
        assertThat(run("verify")).isZero();
        assertThat(out().lines())
                .singleElement()
                .asString()
                .contains("is clean: 3 documents, 1 of them deleted; 6 snapshots");
    }

    @Test
    void verifyTellsEachFaultAndWhatIsNoFault() throws IOException {
        fill();
        Path flipped = snapshot("letters!2f1", 1);
        byte[] bytes = Files.readAllBytes(flipped);
        bytes[bytes.length / 2] ^= 1;
        Files.write(flipped, bytes);
        Files.delete(snapshot("letters!2f1", 2));
        Files.copy(
                snapshot("letters!2f1", 3),
                flipped.resolveSibling("00000000000000f1-0000000000000001-0000000000000001-00000000"));
        Files.writeString(folder.resolve("snapshots/readme"), "mine");
        assertThat(run("verify")).isOne();
        assertThat(out().lines().filter(line -> line.startsWith("FAULT: ")))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).contains("letters/1", "snapshots/letters!2f1/"));
        assertThat(out()).contains("has 2 faults", "4 snapshots read", "no manifest names 1 snapshot", "1 other under");
    }

    private Path snapshot(String form, int generation) throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("snapshots").resolve(form))) {
            return files.sorted().skip(generation - 1).findFirst().orElseThrow();
        }
    }

    @Test
    void verifyAsJsonEndsWithTheSums() throws IOException {
        fill();
        Files.delete(snapshot("gone", 1));
        assertThat(run("verify", "--output", "json")).isOne();
        assertThat(json()).hasSize(2);
        assertThat(json().get(0).get("fault").asText()).contains("'gone'");
        assertThat(json().get(1).get("faults").asInt()).isOne();
    }

    @Test
    void pruneInADryRunRemovesNothing() throws IOException {
        fill();
        List<Path> before = files();
        assertThat(run("prune", "--keep", "2", "--keep-days", "7", "--keep-daily", "0", "--retain", "30", "--dry-run"))
                .isZero();
        assertThat(out()).contains("would remove 3 generations, 0 leftovers and 1 deleted document");
        String dry = out();
        assertThat(files()).isEqualTo(before);
        assertThat(run("prune", "--keep", "2", "--keep-days", "7", "--keep-daily", "0", "--retain", "30"))
                .isZero();
        assertThat(out()).isEqualTo(dry.replace("would remove", "removed"));
    }

    /** A server may keep any number of generations by its options or those of a space, and the command has neither. */
    @Test
    void pruneWithoutOptionsRemovesNoGenerationAndForgetsNothing() throws IOException {
        fill();
        List<Path> before = files();
        assertThat(run("prune")).isZero();
        assertThat(out()).startsWith("removed 0 generations, 0 leftovers and 0 deleted documents");
        assertThat(err.toString()).contains("only leftovers were to be removed: --keep");
        assertThat(run("prune", "--retain", "36500")).isZero();
        assertThat(run("prune", "--keep", "100")).isZero();
        assertThat(files()).isEqualTo(before);
    }

    /** Options that are missing have the defaults of a server. */
    @Test
    void pruneKeepsADayEachAsAServerDoes() {
        try (ObjectStore objects = FileObjectStore.open(folder)) {
            Archive archive = claim(objects);
            for (int day = 10; day > 0; day--) {
                Archiving.archive(archive, new State("daily", 1, 0, 11 - day, now - day * DAY));
            }
        }
        assertThat(run("prune", "--keep", "1")).isZero();
        assertThat(out()).startsWith("removed 0 generations");
        assertThat(run("prune", "--keep", "1", "--keep-daily", "0")).isZero();
        assertThat(out().lines().toList()).last().asString().startsWith("removed 9 generations");
    }

    /**
     * Only a list is complete when no reader is left. If faults were not printed or removals not made, the command
     * fails.
     */
    @Test
    void aClosedOutputEndsVerifyAndPruneWithAFailure() throws IOException {
        fill();
        List<Path> before = files();
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        CommandLine archive = ArchiveCommand.commands(
                        new Console(InputStream.nullInputStream(), closed, Map.of(), false))
                .setErr(new PrintWriter(err, true));
        String url = "file:" + folder;
        assertThat(archive.execute("ls", "--archive", url)).isZero();
        assertThat(archive.execute("verify", "--archive", url)).isOne();
        assertThat(err.toString()).contains("the output was closed before the command was done");
        assertThat(archive.execute("prune", "--archive", url)).isOne();
        assertThat(files()).isEqualTo(before);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().contains("~"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void pruneKeepsTheNewestAndTheYoungAndForgetsTheDeleted() {
        fill();
        assertThat(run("prune", "--keep", "1", "--keep-days", "25", "--keep-daily", "0", "--retain", "30"))
                .isZero();
        assertThat(out().lines()).hasSize(5).last().asString().startsWith("removed 3 generations");
        try (ObjectStore objects = FileObjectStore.open(folder)) {
            Archive archive = Archive.open(objects);
            assertThat(Objects.requireNonNull(archive.manifest(DocumentName.of("letters/1")))
                            .manifest()
                            .generations())
                    .extracting(Generation::number)
                    .containsExactly(3L, 4L);
            assertThat(archive.manifest(DocumentName.of("b\u00fccher"))).isNotNull();
            assertThat(archive.manifest(DocumentName.of("gone"))).isNull();
        }
        assertThat(run("verify")).isZero();
        assertThat(run(
                        "prune",
                        "--keep",
                        "1",
                        "--keep-days",
                        "25",
                        "--keep-daily",
                        "0",
                        "--retain",
                        "30",
                        "--output",
                        "json"))
                .isZero();
        assertThat(out().lines()).singleElement().asString().contains("\"generations\":0");
    }

    @Test
    void pruneTellsOfDocumentsThatItCannotPrune() throws IOException {
        fill();
        Files.writeString(folder.resolve("manifests/gone"), "{}");
        assertThat(run("prune", "--keep", "3", "--keep-daily", "0")).isOne();
        assertThat(err.toString()).contains("manifests/gone");
        assertThat(out()).contains("removed 1 generation,");
    }

    @Test
    void aNameCannotForgeALineOfAMessage() {
        String name = "d\ncaravan: all is well\u001b[2K";
        String escaped = "d\\ncaravan: all is well\\u001b[2K";
        try (ObjectStore objects = FileObjectStore.open(folder)) {
            Archive archive = claim(objects);
            for (int day = 2; day > 0; day--) {
                Archiving.archive(archive, new State(name, 1, 0, 3 - day, now - day * DAY));
            }
        }
        assertThat(run("ls", "no" + name)).isEqualTo(3);
        assertThat(err.toString().lines()).singleElement().asString().contains("'no" + escaped + "'");
        assertThat(run("prune", "--keep", "1", "--keep-days", "0", "--keep-daily", "0"))
                .isZero();
        assertThat(out().lines()).hasSize(2).first().asString().contains(escaped);
    }

    @ParameterizedTest
    @CsvSource({"--keep,0", "--keep-days,-1", "--retain,0", "--jobs,0", "--jobs,257", "--output,xml"})
    void whatCannotBeIsUsage(String option, String value) {
        assertThat(run("prune", option + "=" + value)).isEqualTo(2);
        assertThat(err.toString()).contains(option);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void thereIsNoArchiveInAnEmptyFolder() {
        for (String command : List.of("ls", "verify", "prune")) {
            assertThat(run(command)).isOne();
            assertThat(err.toString()).contains("there is no archive at file:" + folder);
            assertThat(folder).isEmptyDirectory();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "s4://bucket, is no place for an archive",
        "s3://bucket/a//b, is no place for an archive",
        "'', say where the archive is"
    })
    void aPlaceThatIsNoneIsUsage(String url, String message) {
        CommandLine archive = ArchiveCommand.commands(Console.system()).setErr(new PrintWriter(err, true));
        assertThat(archive.execute("ls", "--archive", url)).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void whereTheArchiveIsMustBeSaid() {
        CommandLine archive = ArchiveCommand.commands(Console.system()).setErr(new PrintWriter(err, true));
        assertThat(archive.execute("ls")).isEqualTo(2);
        assertThat(err.toString()).contains("say where the archive is");
    }
}
