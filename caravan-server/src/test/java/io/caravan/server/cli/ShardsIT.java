package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Shards;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests a server with several shards: recovery, archive, backup, and the commands that read directories. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class ShardsIT {
    private static final int SHARDS = 3;

    @TempDir
    private Path directory;

    private String printed = "";

    private Path data() {
        return directory.resolve("data");
    }

    private ServerProcess start(Path data, int groups, String... options) throws IOException {
        SmallFiles.make(data, groups);
        List<String> all = new ArrayList<>(List.of("--shards", Integer.toString(groups)));
        all.addAll(List.of(options));
        return ServerJvm.start(data, all.toArray(String[]::new));
    }

    /** An in-process server with several shards, for tests that need no separate process. */
    private static final class Here implements AutoCloseable {
        private final Shards groups;
        private final Server server;
        final RespClient client;

        Here(Path data, int number) throws IOException {
            groups = Shards.open(SmallFiles.config(data).build(), number);
            server = Server.start(
                    groups.store(),
                    ServerConfig.of(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            SmallFiles.config(data).build()));
            client = new RespClient(server.respAddress());
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
            groups.close();
        }
    }

    /** Runs, in this JVM, a command line of words separated by spaces, and keeps its output in {@link #printed}. */
    private CommandRun run(String line) {
        CommandRun run = CommandRun.at(null, line.split(" "));
        printed = run.out() + run.err();
        return run;
    }

    private static int group(String name) {
        return Slots.group(name.getBytes(UTF_8), SHARDS);
    }

    private static String in(int group) {
        return Stream.iterate(0, number -> number + 1)
                .map(number -> "document-" + number)
                .filter(name -> group(name) == group)
                .findFirst()
                .orElseThrow();
    }

    private static String call(RespClient client, String... words) {
        try {
            return client.call(words);
        } catch (IOException broken) {
            throw new AssertionError(broken);
        }
    }

    @Test
    void killUnderLoadOfAllShardsLosesNoAcknowledgedValue() throws Exception {
        List<CompletableFuture<Long>> pushed = new ArrayList<>();
        try (ServerProcess server = start(data(), SHARDS)) {
            for (int group = 0; group < SHARDS; group++) {
                CompletableFuture<Void> underLoad = new CompletableFuture<>();
                String name = in(group);
                CompletableFuture<Long> pushing =
                        CompletableFuture.supplyAsync(() -> ServeIT.pushUntilBroken(server, name, underLoad));
                pushed.add(pushing);
                CompletableFuture.anyOf(underLoad, pushing).join();
            }
            server.kill();
        }
        try (ServerProcess server = start(data(), SHARDS);
                RespClient client = new RespClient(server.awaitAddress())) {
            for (int group = 0; group < SHARDS; group++) {
                long replied = pushed.get(group).join();
                assertThat(replied).isGreaterThanOrEqualTo(1_000);
                ServeIT.assertHoldsAll(client, in(group), replied);
            }
            assertThat(server.terminate()).isZero();
        }
        run("verify " + data()).exits(0);
        assertThat(printed).contains("shard-0 is clean: ", "shard-1 is clean: ", "shard-2 is clean: ");
    }

    @Test
    void rejectsOtherNumberOfShards() throws Exception {
        SmallFiles.make(data(), SHARDS);
        for (String other : List.of("1", "2", "4")) {
            run("serve --resp 127.0.0.1:0 --http 127.0.0.1:0 --data " + data() + " --shards " + other)
                    .exits(1);
            assertThat(printed).contains("was created with --shards 3", "Start with --shards 3");
        }
        run("serve --shards 17 --data " + data()).exits(2);
        assertThat(printed).contains("--shards must be from 1 to 16");
    }

    @Test
    void directoryCommandsHandleShards() throws Exception {
        String name = in(2);
        try (Here server = new Here(data(), SHARDS)) {
            server.client.call("RPUSH", name, "hello");
            run("verify " + data()).exits(0);
            assertThat(printed).contains("shard-2 is open; reading it as it is", "shard-2 is clean");
        }
        run("dump " + data() + " " + name).exits(0);
        assertThat(printed).contains("\"hello\"");
        run("dump " + data().resolve("shard-2") + " " + name).exits(0);
        run("dump " + data() + " " + in(1)).exits(3);
        for (String command : List.of(
                "dump " + data(),
                "log " + data(),
                "repair --dry-run " + data(),
                "salvage " + data() + " " + directory.resolve("salvaged"))) {
            run(command).exits(2);
            assertThat(printed).contains("has 3 shards, each of which is a store: name the directory of one");
        }
        run("repair --dry-run " + data().resolve("shard-1")).exits(0);
        Path damaged = data().resolve("shard-1");
        try (Stream<Path> files = Files.list(damaged)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".ckp")).toList()) {
                Files.write(file, new byte[100]);
            }
        }
        run("verify " + data()).exits(1);
        assertThat(printed).contains("FAULT: ", "shard-0 is clean", "shard-2 is clean");
    }

    @Test
    void servesBackupOfAllShards() throws Exception {
        Path backups = Files.createDirectory(directory.resolve("backups"));
        try (ServerProcess server = start(data(), SHARDS, "--backup-dir", backups.toString());
                RespClient client = new RespClient(server.awaitAddress())) {
            for (int group = 0; group < SHARDS; group++) {
                client.call("RPUSH", in(group), "value " + group);
            }
            run("backup monday --server 127.0.0.1:" + server.port()).exits(0);
            for (int group = 0; group < SHARDS; group++) {
                client.call("RPUSH", in(group), "later");
            }
        }
        run("verify " + backups.resolve("monday")).exits(0);
        try (Here server = new Here(backups.resolve("monday"), SHARDS)) {
            for (int group = 0; group < SHARDS; group++) {
                assertThat(server.client.call("LRANGE", in(group), "0", "-1")).isEqualTo("[$value " + group + "]");
            }
        }
    }

    /** A restore may change the number of shards, although each shard has a journal of its unarchived deletions. */
    @Test
    void restoresArchiveToOtherNumberOfShards() throws Exception {
        String archive = "file:" + directory.resolve("archive");
        try (ServerProcess server = start(data(), SHARDS, "--archive", archive, "--archive-after", "1h");
                RespClient client = new RespClient(server.awaitAddress())) {
            for (int i = 0; i < 20; i++) {
                client.call("RPUSH", "document-" + i, "value " + i);
                assertThat(client.call("CARAVAN.ARCHIVE", "document-" + i)).contains("$generation, :1");
            }
            for (int i = 0; i < 10; i++) {
                client.call("DEL", "document-" + i);
            }
            server.kill();
        }
        try (ServerProcess server = start(data(), SHARDS, "--archive", archive, "--archive-after", "1h");
                RespClient client = new RespClient(server.awaitAddress())) {
            Eventually.await(
                    "all deletions are archived",
                    () -> call(client, "INFO", "archive").contains("archive_tombstones:10"));
            assertThat(server.terminate()).isZero();
        }
        Path restored = directory.resolve("restored");
        run("restore --shards 2 --archive " + archive + " --data " + restored).exits(0);
        assertThat(Shards.directories(restored)).hasSize(2);
        try (Here server = new Here(restored, 2)) {
            assertThat(server.client.call("DBSIZE")).isEqualTo(":10");
            for (int i = 10; i < 20; i++) {
                assertThat(server.client.call("LRANGE", "document-" + i, "0", "-1"))
                        .isEqualTo("[$value " + i + "]");
            }
        }
    }
}
