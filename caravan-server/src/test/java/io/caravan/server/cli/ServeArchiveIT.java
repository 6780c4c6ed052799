package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.S3Options;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests the archive of a server process: its default location, and its state after the process is killed. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class ServeArchiveIT {
    @TempDir
    private Path directory;

    private ServerProcess start(String data, String... options) throws IOException {
        return ServerJvm.start(directory.resolve(data), List.of(), Map.of(), log(), options);
    }

    private Path log() {
        return directory.resolve("log");
    }

    private boolean has(String document) {
        return Files.exists(directory.resolve("data-archive/manifests/" + document));
    }

    private List<String> archived(String document) {
        DocumentName name = DocumentName.of(document);
        try (ObjectStore objects = ObjectStores.place("file:" + directory.resolve("data-archive"))
                .open(new S3Options(null, null, false))) {
            Archive archive = Archive.open(objects);
            KeptManifest kept = archive.manifest(name);
            return Archiving.read(archive, name, kept.manifest().latest());
        }
    }

    @Test
    void autoArchiveIsNextToDataAndCatchesUpAfterKill() throws Exception {
        try (ServerProcess server = start("data", "--archive", "auto", "--archive-after", "1h");
                RespClient client = new RespClient(server.awaitAddress())) {
            client.call("RPUSH", "a", "1");
            assertThat(client.call("CARAVAN.ARCHIVE", "a")).contains("$generation, :1");
            client.call("RPUSH", "a", "2");
            client.call("RPUSH", "b", "1");
            client.call("RPUSH", "gone", "1");
            client.call("CARAVAN.ARCHIVE", "gone");
            client.call("DEL", "gone");
            server.kill();
        }
        assertThat(archived("a")).containsExactly("1");
        try (ServerProcess server = start("data", "--archive", "auto", "--archive-after", "1h");
                RespClient client = new RespClient(server.awaitAddress())) {
            Eventually.await(
                    "what had changed is archived",
                    () -> has("b") && archived("a").size() == 2);
            Eventually.await("and what was deleted", () -> {
                try {
                    return client.call("INFO", "archive").contains("archive_tombstones:1");
                } catch (IOException broken) {
                    throw new AssertionError(broken);
                }
            });
            assertThat(server.terminate()).isZero();
        }
    }

    @Test
    void archivesOnStopAndRejectsOtherStore() throws Exception {
        try (ServerProcess server = start("data", "--archive", "auto", "--archive-after", "1h", "--archive-on-stop");
                RespClient client = new RespClient(server.awaitAddress())) {
            Eventually.await("the first round is over", () -> {
                try {
                    client.call("RPUSH", "first", "1");
                    return client.call("CARAVAN.ARCHIVE", "first").contains("generation");
                } catch (IOException broken) {
                    throw new AssertionError(broken);
                }
            });
            client.call("RPUSH", "a", "1");
            assertThat(server.terminate()).isZero();
        }
        assertThat(archived("a")).containsExactly("1");
        assertThat(Files.readString(log())).contains("everything is archived");
        assertAnotherStoreDoesNotStart();
    }

    private void assertAnotherStoreDoesNotStart() {
        Path other = directory.resolve("other");
        SmallFiles.make(other, 1);
        CommandRun.at(
                        null,
                        ("serve --resp 127.0.0.1:0 --http 127.0.0.1:0 --data " + other + " --archive file:"
                                        + directory.resolve("data-archive"))
                                .split(" "))
                .exits(1, "caravan: the archive at ", "belongs to the store");
    }
}
