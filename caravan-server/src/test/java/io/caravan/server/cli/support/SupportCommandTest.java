package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.client.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the content of the support file, which must not contain secrets. */
class SupportCommandTest {
    private static final String MARKER = "xSecretMarkerx";

    @TempDir
    private Path directory;

    private String httpPort = "1";

    private Path out() {
        return directory.resolve("out.zip");
    }

    /** Runs {@code support} without a running server, unless {@code words} specify one. */
    private CommandRun run(String... words) {
        List<String> all = new ArrayList<>(List.of("support", "--out", out().toString()));
        all.addAll(Arrays.asList(words));
        return CommandRun.with(Map.of("CARAVAN_HTTP", "127.0.0.1:" + httpPort), new byte[0])
                .run(all.contains("--server") ? null : "127.0.0.1:1", all.toArray(String[]::new));
    }

    private String put(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    @Test
    void createsFileWithoutServerAndStore() throws IOException {
        CommandRun run = run().exits(3, "no server listens at 127.0.0.1:1");
        assertThat(run.out())
                .contains("machine/doctor.json  ", "not available: server over RESP: no server responds", "created ");
        SupportParts bundle = SupportParts.in(out());
        assertThat(bundle.parts()).containsOnlyKeys("README.txt", "machine/linux.txt", "machine/doctor.json");
        assertThat(bundle.part("README.txt")).contains("Not available:\nserver over RESP\n    no server responds");
    }

    @Test
    void createsPrivateFileWithoutOverwriting() throws IOException {
        run();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(out())))
                .isEqualTo("rw-------");
        Files.writeString(out(), "mine");
        run().exits(1, "exists already, and is not overwritten");
        assertThat(out()).hasContent("mine");
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("elsewhere"));
        Files.delete(out());
        Files.move(link, out());
        run().exits(1);
        assertThat(directory.resolve("elsewhere")).doesNotExist();
    }

    @Test
    void invalidOptionsLeaveNoFile() {
        run("--user", "somebody").exits(2);
        httpPort = "none";
        run().exits(2, "CARAVAN_HTTP");
        assertThat(out()).doesNotExist();
    }

    @Test
    void filtersServerDataByNameAndFormat() throws IOException {
        try (MarkerServer server = new MarkerServer(MARKER)) {
            httpPort = server.httpPort();
            CommandRun run = run("--server", server.address(), "--json").exits(0);
            assertThat(run.out())
                    .startsWith("{\"file\":\"")
                    .contains("\"missing\":[]")
                    .doesNotContain(MARKER);
        }
        SupportParts bundle = SupportParts.in(out());
        bundle.hasNothingLike(out(), MARKER);
        assertThat(bundle.part("server/info.json"))
                .contains(
                        "\"uptime_in_seconds\" : \"7\"",
                        "\"store_state\" : \"ok\"",
                        "\"durability\" : \"(hidden)\"",
                        "\"reads\" : \"(hidden)\"")
                .doesNotContain("store_problem", "archive_last_error");
        assertThat(bundle.part("server/slowlog.json"))
                .contains(
                        "\"command\" : \"rpush\"", "\"command\" : \"(hidden)\"", "\"micros\" : 12345", "\"words\" : 3");
        assertThat(bundle.part("server/readiness.json"))
                .isEqualToIgnoringWhitespace("{\"status\" : 503, \"code\" : \"store_failed\"}");
        assertThat(bundle.part("server/metrics.txt")).isEqualTo("caravan_documents 3.0\n");
        assertThat(bundle.part("server/settings.json")).contains("\"value\" : \"4\"", "\"name\" : \"password\"");
        assertThat(bundle.part("server/store.json")).contains("\"replayBytes\" : 5", "\"holes\" : \"(hidden)\"");
    }

    @Test
    void describesStoreFilesWithoutContent() throws IOException {
        Path store = directory.resolve("store");
        try (ListStore open = SmallFiles.open(store)) {
            open.append(1, MARKER.getBytes(UTF_8)).join();
            open.checkpoint();
            List<String> before = listed(store);
            run("--store", store.toString());
            assertThat(listed(store)).as("nothing was written").isEqualTo(before);
        }
        SupportParts bundle = SupportParts.in(out());
        bundle.hasNothingLike(out(), MARKER);
        assertThat(bundle.part("store/files.json"))
                .contains("\"name\" : \"log-0000000000000000.wal\"", "\"kind\" : \"CARAVCKP\"", "\"startLsn\" : ");
        assertThat(bundle.part("store/verify.json")).contains("\"clean\" : true", "\"entries\" : 1");
        assertThat(bundle.part("machine/doctor.json"))
                .contains("\"subject\" : \"space\"")
                .doesNotContain("\"forces\"");
    }

    @Test
    void describesOtherShardsIfOneIsMissing() throws IOException {
        Path store = directory.resolve("store");
        SmallFiles.make(store, 3);
        Files.move(store.resolve("shard-1"), directory.resolve("elsewhere"));
        CommandRun run = run("--store", store.toString()).exits(3);
        assertThat(run.out()).contains("not available: store/shard-1: it is not a directory that this user may read");
        assertThat(SupportParts.in(out()).parts())
                .containsKeys("store/shard-0/verify.json", "store/shard-2/verify.json")
                .doesNotContainKey("store/shard-1/files.json");
    }

    @Test
    void hidesNameOfForeignFile() throws IOException {
        Path store = directory.resolve("store");
        SmallFiles.open(store).close();
        Files.writeString(store.resolve(MARKER), MARKER);
        CommandRun run = run("--store", store.toString());
        assertThat(run.out())
                .contains("not available: store/verify.json: the store cannot be verified (StoreDirectory");
        SupportParts bundle = SupportParts.in(out());
        bundle.hasNothingLike(out(), MARKER);
        assertThat(bundle.part("store/files.json"))
                .contains("\"name\" : \"(hidden)\",\n  \"bytes\" : " + MARKER.length());
    }

    private static List<String> listed(Path listedDirectory) throws IOException {
        try (Stream<Path> files = Files.list(listedDirectory)) {
            return files.map(Path::toString).sorted().toList();
        }
    }

    @Test
    void reportsDamagedCheckpointHeader() throws IOException {
        Path store = directory.resolve("store");
        SmallFiles.open(store).close();
        for (Path file : listed(store).stream().map(Path::of).toList()) {
            if (file.toString().endsWith(".ckp")) {
                byte[] bytes = Files.readAllBytes(file);
                bytes[20] ^= 1;
                Files.write(file, bytes);
            }
        }
        run("--store", store.toString());
        assertThat(SupportParts.in(out()).part("store/files.json")).contains("\"problem\" : \"the header is damaged\"");
    }

    @Test
    void reportsMissingStoreLogAndConfig() throws IOException {
        CommandRun run = run("--store", directory.resolve("no").toString(), "--log", "no", "--config", "no")
                .exits(3);
        assertThat(run.out())
                .contains("not available: store: ", "not available: log.txt: ", "not available: settings.json");
    }

    @Test
    void filtersSettingsByNameAndFormat() throws IOException {
        String config = put(
                "config",
                "readers = 8\nlog-level = " + MARKER + "\n" + MARKER + "\n" + MARKER + "x = 1\npassword-file = "
                        + MARKER + "\narchive = s3://" + MARKER + ":" + MARKER + "@bucket/x\n");
        run("--config", config);
        SupportParts bundle = SupportParts.in(out());
        bundle.hasNothingLike(out(), MARKER);
        assertThat(bundle.part("settings.json")).contains("\"readers\"", "\"value\" : \"8\"", "\"archive\"");
    }

    @Test
    void reducesLogToKnownMessages() throws IOException {
        String log = put(
                "log",
                String.join(
                        "\n",
                        "anything " + MARKER,
                        "2026-01-02T03:04:05.678Z WARN  [" + MARKER + "] ExpirySweeper: document '" + MARKER
                                + "' has expired and could not be deleted: " + MARKER,
                        "2026-01-02T03:04:05.678Z INFO  [t] Engine: " + MARKER
                                + " is open: 12 lists, 345 entries, 6 frames replayed, " + MARKER,
                        "2026-01-02T03:04:05.678Z INFO  [t] Engine: x is open: " + MARKER
                                + " lists, 345 entries, 6 frames replayed, []",
                        "2026-01-02T03:04:05.678Z INFO  [t] Engine: " + MARKER + " is not a message of the engine",
                        "2026-01-02T03:04:05.678Z INFO  [t] " + MARKER + ": stopping",
                        "Jan 02 03:04:05 " + MARKER
                                + " caravan[1]: 2026-01-02T03:04:05.678+01:00 INFO  [t] Shutdown: stopping",
                        "2026-01-02T03:04:05.678Z ERROR [t] Flusher: s has failed and must be reopened",
                        "java.io.IOException: " + MARKER,
                        "\tat io.caravan.server.cli.support.LogTail.x(" + MARKER + ".java:12)",
                        "\tat java.base/java.lang.Thread.run(Thread.java:840)",
                        "\tat io.caravan." + MARKER + ".X.x(X.java:12)",
                        "Caused by: java.io.UncheckedIOException: " + MARKER,
                        "com.example." + MARKER + ".XException: no",
                        "{\"timestamp\":0,\"level\":\"WARN\",\"loggerName\":\"io.caravan.x.Archiver\",\"threadName\":\""
                                + MARKER
                                + "\",\"formattedMessage\":\"the archive lacks at least 5 changes, which are archived after the"
                                + " next start: " + MARKER + "\",\"throwable\":{\"className\":\"java.io.IOException\","
                                + "\"message\":\"" + MARKER + "\",\"stepArray\":[{\"className\":\"java.lang.Thread\","
                                + "\"methodName\":\"" + MARKER + "\",\"lineNumber\":7}]}}",
                        "{\"timestamp\":0,\"level\":\"" + MARKER + "\"}",
                        ""));
        run("--log", log);
        SupportParts bundle = SupportParts.in(out());
        bundle.hasNothingLike(out(), MARKER);
        assertThat(bundle.part("log.txt")).isEqualTo("""
            (1 hidden)
            2026-01-02T03:04:05.678Z WARN ExpirySweeper: document '…' has expired and could not be deleted: …
            2026-01-02T03:04:05.678Z INFO Engine: … is open: 12 lists, 345 entries, 6 frames replayed, …
            2026-01-02T03:04:05.678Z INFO Engine: … is open: … lists, 345 entries, 6 frames replayed, …
            2026-01-02T03:04:05.678Z INFO Engine: (hidden)
            2026-01-02T03:04:05.678Z INFO (hidden): (hidden)
            2026-01-02T03:04:05.678+01:00 INFO Shutdown: stopping
            2026-01-02T03:04:05.678Z ERROR Flusher: … has failed and must be reopened
            java.io.IOException
                at io.caravan.server.cli.support.LogTail:12
                at java.lang.Thread:840
            (1 hidden)
            Caused by: java.io.UncheckedIOException
            (1 hidden)
            1970-01-01T00:00:00Z WARN Archiver: the archive lacks at least 5 changes, which are archived after the next start: …
            java.io.IOException
                at java.lang.Thread:7
            (1 hidden)
            """);
    }

    @Test
    void readsOnlyEndOfLongLog() throws IOException {
        String line = "2026-01-02T03:04:05.678Z INFO  [t] Shutdown: stopping\n";
        int lines = LogTail.MOST_BYTES / line.length();
        String log = put(
                "log",
                "2026-01-02T03:04:05.678Z INFO  [t] ArchiveCounters: archiving continues\n" + line.repeat(lines + 1));
        assertThat(new LogTail().of(Path.of(log)).lines()).hasSize(lines).allMatch(each -> each.endsWith("stopping"));
    }
}
