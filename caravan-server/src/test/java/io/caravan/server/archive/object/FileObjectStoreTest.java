package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a folder, and what only a folder has. */
class FileObjectStoreTest extends ObjectStoreContract {
    @TempDir
    Path directory;

    private Path folder() {
        return directory.resolve("parent/archive");
    }

    @Override
    ObjectStore openPlace() {
        return FileObjectStore.open(folder());
    }

    @Override
    void assertNothingHalfDone() throws IOException {
        Path staging = folder().resolve("~tmp");
        if (Files.exists(staging)) {
            assertThat(files(staging)).isEmpty();
        }
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    @Test
    void readingCreatesNothing() {
        try (ObjectStore store = openPlace()) {
            assertThat(store.get("a", 10)).isNull();
            store.list("", "", listed -> true);
            store.delete("a");
            assertThatThrownBy(() -> store.deleteIf("a", "tag")).isInstanceOf(ObjectStoreException.class);
        }
        assertThat(folder().getParent()).doesNotExist();
    }

    @Test
    void aFileIsNoFolder() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> FileObjectStore.open(file))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is a file");
    }
}
