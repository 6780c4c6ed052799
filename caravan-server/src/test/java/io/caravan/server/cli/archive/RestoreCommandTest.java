package io.caravan.server.cli.archive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.Claims;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.S3Options;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.restore.RestoreProgress.Figures;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

/** Tests the command that restores documents from an archive, with and without a server. */
class RestoreCommandTest {
    @TempDir
    private Path directory;

    private String url() {
        return "file:" + directory.resolve("archive");
    }

    private ServedStore serve(boolean hydrate) throws IOException {
        ArchiveConfig archive = Claims.config(
                url(),
                () -> ObjectStores.place(url()).open(new S3Options(null, null, false)),
                true,
                hydrate,
                false,
                Duration.ofHours(1),
                2,
                0,
                false);
        RestoreConfig restore = new RestoreConfig(hydrate, Duration.ZERO, 1, directory.resolve("data"), 1024 * 1024);
        return new ServedStore(config -> config.withArchive(archive).withRestore(restore));
    }

    /** A full export must be rejected while the server lists only documents that it has fetched from the archive. */
    @Test
    void rejectsFullExportFromPartiallyHydratedServer() throws IOException {
        try (ServedStore first = serve(false)) {
            for (String name : List.of("a", "b", "c")) {
                CommandRun.of(first, "append", name, "v");
            }
            archive(first, "a", "b", "c");
        }
        try (ServedStore other = new ServedStore();
                ServedStore second = serve(true)) {
            assertThat(CommandRun.of(second, "get", "a").out()).isEqualTo("v\n");
            for (String[] words : new String[][] {
                {"export"}, {"copy", "--to", other.address()}, {"move", "--prefix", "", "--to", other.address()}
            }) {
                CommandRun.of(second, words).exits(3, "lists only those of its documents that it has fetched");
            }
            CommandRun.of(second, "export", "b").exits(0);
            CommandRun.of(second, "copy", "c", "--to", other.address()).exits(0);
        }
    }

    /** Archives documents on the server. */
    private static void archive(ServedStore served, String... names) {
        try (Jedis client = served.jedis()) {
            for (String name : names) {
                client.sendCommand(() -> "CARAVAN.ARCHIVE".getBytes(UTF_8), name);
            }
        }
    }

    private CommandRun restoreAll(String... words) {
        String data = directory.resolve("restored").toString();
        return CommandRun.at(null, CommandRun.words(List.of("restore", "--archive", url(), "--data", data), words));
    }

    @Test
    void serverRestoresDocument() throws IOException {
        try (ServedStore served = serve(false)) {
            CommandRun.of(served, "append", "a", "x", "y");
            archive(served, "a");
            CommandRun none = CommandRun.of(served, "restore", "a");
            assertThat(none.out()).isEqualTo("first 0, next 2, added 0 from generation 1\n");
            CommandRun.of(served, "restore", "a", "--at", "1")
                    .exits(3, "would go back in time; restore it under another name");
            CommandRun other = CommandRun.of(served, "restore", "a", "--at", "1", "--as", "b", "--json");
            assertThat(other.out()).isEqualTo("{\"first\":0,\"next\":2,\"added\":2,\"generation\":1}\n");
            assertThat(CommandRun.of(served, "get", "b").out()).isEqualTo("x\ny\n");
            CommandRun.of(served, "restore", "nothing").exits(3);
            CommandRun.of(served, "rm", "a");
            CommandRun.of(served, "restore", "a")
                    .exits(3, "was deleted; the archive keeps generation 1 (sequences 0 to 2");
        }
    }

    @Test
    void reportsServerWithoutArchive() throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun.of(served, "restore", "a").exits(1, "has no archive");
        }
    }

    @Test
    void restoresEntireStore() throws IOException {
        try (ServedStore served = serve(false)) {
            CommandRun.of(served, "append", "a", "x", "y");
            CommandRun.of(served, "append", "b', added 9", "z");
            archive(served, "a", "b', added 9");
        }
        CommandRun run = restoreAll().exits(0);
        assertThat(run.out().lines())
                .contains(
                        "restored 'a' generation 1: first 0, next 2, added 2",
                        "restored 'b', added 9' generation 1: first 0, next 1, added 1",
                        "2 documents restored, 0 were there already, 0 were deleted, 0 faults; 3 values, 3 bytes");
        assertThat(run.err()).contains("to replace the lost server: caravan serve --data ");
        assertThat(restoreAll("--json").out().lines())
                .hasSize(3)
                .contains("{\"name\":\"b', added 9\",\"generation\":1,\"first\":0,\"next\":1,\"added\":0}")
                .endsWith("{\"restored\":0,\"present\":2,\"deleted\":0,\"faults\":0,\"values\":0,\"bytes\":0}");
    }

    @Test
    void reportsDamagedSnapshot() throws IOException {
        try (ServedStore served = serve(false)) {
            CommandRun.of(served, "append", "a", "x");
            CommandRun.of(served, "append", "b", "z");
            archive(served, "a", "b");
        }
        try (Stream<Path> files = Files.walk(directory.resolve("archive/snapshots/a"))) {
            Path snapshot = files.filter(Files::isRegularFile).findFirst().orElseThrow();
            byte[] content = Files.readAllBytes(snapshot);
            content[content.length / 2] ^= 1;
            Files.write(snapshot, content);
        }
        CommandRun run = restoreAll().exits(1);
        assertThat(run.err())
                .contains(
                        "FAULT: document 'a', object snapshots/a/",
                        "1 documents were not restored from their latest generations",
                        "the store lacks 1 of them, and is marked as incomplete")
                .doesNotContain("to replace the lost server");
        assertThat(run.out()).contains("restored 'b'");
        restoreAll("--allow-missing").exits(1, "is marked as complete without them");
    }

    @Test
    void rejectsInvalidArguments() {
        for (List<String> words : List.of(
                List.of("restore"),
                List.of("restore", "--archive", "file:x"),
                List.of("restore", "a", "--data", "x"),
                List.of("restore", "--archive", "file:x", "--data", "y", "--at", "1"),
                List.of("restore", "--archive", "nowhere", "--data", "y"),
                List.of("restore", "--archive", "file:x", "--data", "y", "--jobs", "0"))) {
            CommandRun.at(null, words.toArray(String[]::new)).exits(2);
        }
        restoreAll().exits(1);
        assertThat(directory.resolve("restored")).doesNotExist();
    }

    @Test
    void progressShowsRateAndRemainingTime() {
        assertThat(RestoreReport.progress(new Figures(-1, 5, 0, 0, 0, 5, 0, 4_000_000), SECONDS.toNanos(2)))
                .isEqualTo("5 documents, 2.0 MB/s, 0 faults");
        assertThat(RestoreReport.progress(new Figures(2_000, 900, 50, 49, 1, 5, 0, 4_000_000), SECONDS.toNanos(10)))
                .isEqualTo("1,000 of 2,000 documents, 0.4 MB/s, 1 faults, 0:00:10 left");
    }
}
