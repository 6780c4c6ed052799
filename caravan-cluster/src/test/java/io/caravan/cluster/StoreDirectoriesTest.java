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

/** The directory of the store while another one replaces it, interrupted at each step. */
final class StoreDirectoriesTest {
    private static final List<String> FILES = List.of("first", "second");

    @TempDir
    Path directory;

    private Path store;
    private StoreDirectories folders;

    @BeforeEach
    void aStore() throws IOException {
        store = directory.resolve("store");
        folders = new StoreDirectories(store);
        fill(store, "old");
    }

    private static void fill(Path folder, String content) throws IOException {
        Files.createDirectories(folder);
        for (String file : FILES) {
            Files.writeString(folder.resolve(file), content);
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
    void whatWasReceivedReplacesTheStore() throws IOException {
        fill(folders.beginIncoming(), "new");
        folders.install();
        assertOnlyStore("new");
    }

    @Test
    void whatWasNotReceivedWholeIsForgotten() throws IOException {
        fill(folders.beginIncoming(), "half");
        folders.recover();
        assertOnlyStore("old");
        fill(folders.beginIncoming(), "half");
        assertThat(folders.beginIncoming()).doesNotExist();
        folders.forget();
        assertOnlyStore("old");
    }

    /** Once the received directory has its second name, it is the store, however little is left of the old one. */
    @Test
    void whatWasReceivedWholeIsTheStoreAfterACrashAtAnyStep() throws IOException {
        for (int deleted = 0; deleted <= FILES.size() + 1; deleted++) {
            delete(store);
            fill(store, "old");
            fill(folders.beginIncoming(), "new");
            Files.move(folders.beside().get(0), folders.beside().get(1));
            for (String gone : FILES.subList(0, Math.min(deleted, FILES.size()))) {
                Files.delete(store.resolve(gone));
            }
            if (deleted > FILES.size()) {
                Files.delete(store);
            }
            folders.recover();
            assertOnlyStore("new");
        }
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path each : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
