package io.caravan.server.cli.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.Claims;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** Tests the {@code archive} command, which archives a document. */
class ArchiveCommandTest {
    private final MemoryObjectStore client = new MemoryObjects(InstantSource.system()).client();
    private final ArchiveConfig archive =
            Claims.config("memory:", () -> client, true, false, false, Duration.ofHours(10), 1, 0, false);

    private static void run(ServedStore served, int exitCode, String printed, String... words) {
        CommandRun run = CommandRun.of(served, words).exits(exitCode);
        assertThat(exitCode == 0 ? run.out() : run.err()).contains(printed);
    }

    @Test
    void printsArchivedGeneration() throws IOException {
        try (ServedStore served = new ServedStore(config -> config.withArchive(archive))) {
            run(served, 0, "first 0", "append", "d", "a", "b");
            // The server's first scan of all documents may have archived the document before this command.
            run(served, 0, "generation 1, first 0, next 2", "archive", "d");
            run(served, 0, "generation 1, first 0, next 2, unchanged\n", "archive", "d");
            run(served, 0, "{\"generation\":1,\"first\":0,\"next\":2,\"uploaded\":false}", "archive", "d", "--json");
            run(served, 3, "'absent' does not exist", "archive", "absent");
            client.faults((number, call, key) -> ObjectFault.REJECTED);
            run(served, 0, "first 2", "append", "d", "c");
            run(served, 1, "caravan: memory:", "archive", "d");
        }
    }

    @Test
    void reportsServerWithoutArchive() throws IOException {
        try (ServedStore served = new ServedStore()) {
            run(served, 1, "caravan: this server has no archive: start it with --archive", "archive", "d");
        }
    }
}
