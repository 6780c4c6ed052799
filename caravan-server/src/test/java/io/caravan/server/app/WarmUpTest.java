package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.caravan.server.net.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WarmUpTest {
    @TempDir
    Path parent;

    @Test
    void leavesNoFiles() {
        WarmUp.run(Transport.NIO, parent);
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void deletesOldDirectoriesOfKilledServers() throws IOException {
        Path old = Files.createDirectory(parent.resolve("caravan-warm-up1"));
        Files.createFile(old.resolve("file"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
        Path recent = Files.createDirectory(parent.resolve("caravan-warm-up2"));
        WarmUp.run(Transport.NIO, parent);
        assertThat(parent).isDirectoryContaining(recent::equals).isDirectoryNotContaining(old::equals);
    }

    @Test
    void toleratesMissingDirectory() {
        assertThatCode(() -> WarmUp.run(Transport.NIO, parent.resolve("missing")))
                .doesNotThrowAnyException();
        assertThat(parent).isEmptyDirectory();
    }
}
