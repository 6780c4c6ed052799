package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the replacement of a store's directory, interrupted at each step. */
final class StoreDirectoriesTest {
    private static final List<String> FILES = List.of("first", "second");

    @TempDir
    Path directory;

    private Path store;
    private StoreDirectories directories;

    @BeforeEach
    void aStore() throws IOException {
        store = directory.resolve("store");
        directories = new StoreDirectories(store);
        fill(store, "old");
    }

    private static void fill(Path target, String content) throws IOException {
        Files.createDirectories(target);
        for (String file : FILES) {
            Files.writeString(target.resolve(file), content);
        }
    }

    private void assertOnlyStore(String content) throws IOException {
        for (String file : FILES) {
            assertThat(store.resolve(file)).hasContent(content);
        }
        try (Stream<Path> found = Files.list(directory)) {
            assertThat(found).containsExactly(store);
        }
    }

    @Test
    void receivedFilesReplaceStore() throws IOException {
        fill(directories.beginIncoming(), "new");
        directories.install();
        assertOnlyStore("new");
    }

    @Test
    void discardsIncompleteTransfer() throws IOException {
        fill(directories.beginIncoming(), "half");
        directories.recover();
        assertOnlyStore("old");
        fill(directories.beginIncoming(), "half");
        assertThat(directories.beginIncoming()).doesNotExist();
        assertOnlyStore("old");
    }

    /**
     * Tests crashes at each step after the first renaming of the received directory. From then on, the received
     * directory is the store, even if files of the old store remain.
     */
    @Test
    void completesInstallationAfterCrashAtAnyStep() throws IOException {
        for (int deleted = 0; deleted <= FILES.size() + 1; deleted++) {
            delete(store);
            fill(store, "old");
            fill(directories.beginIncoming(), "new");
            Files.move(directories.adjacent().get(0), directories.adjacent().get(1));
            for (String gone : FILES.subList(0, Math.min(deleted, FILES.size()))) {
                Files.delete(store.resolve(gone));
            }
            if (deleted > FILES.size()) {
                Files.delete(store);
            }
            directories.recover();
            assertOnlyStore("new");
        }
    }

    static void delete(Path target) throws IOException {
        try (Stream<Path> found = Files.walk(target)) {
            for (Path each : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
