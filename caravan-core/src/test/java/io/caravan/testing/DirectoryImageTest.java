package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryImageTest {
    private static final int RENAMES = 2_000;

    @TempDir
    Path directory;

    @Test
    void includesFileThatIsRenamedConcurrently() throws Exception {
        Files.writeString(directory.resolve("b"), "content");
        CompletableFuture<Void> renames = CompletableFuture.runAsync(this::renameRepeatedly);
        while (!renames.isDone()) {
            assertThat(DirectoryImage.of(directory).files().keySet()).hasSize(1);
        }
        renames.join();
    }

    private void renameRepeatedly() {
        for (int i = 0; i < RENAMES; i++) {
            Path from = directory.resolve(i % 2 == 0 ? "b" : "a");
            if (!from.toFile()
                    .renameTo(directory.resolve(i % 2 == 0 ? "a" : "b").toFile())) {
                throw new AssertionError("cannot rename " + from);
            }
        }
    }
}
