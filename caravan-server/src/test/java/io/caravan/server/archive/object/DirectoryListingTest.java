package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests listings of directories that have more names than one directory read returns. */
class DirectoryListingTest {
    @TempDir
    Path root;

    private final TreeSet<String> keys = new TreeSet<>();

    @BeforeEach
    void createFiles() throws IOException {
        for (int number = 0; number < 8; number++) {
            create("file" + number);
            create("folder" + number + "/a");
            create("folder" + number + "/b");
            create("folder" + number + "-/a");
            create("folder" + number + "!");
        }
    }

    private void create(String key) throws IOException {
        Files.createDirectories(root.resolve(key).getParent());
        Files.createFile(root.resolve(key));
        keys.add(key);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 31, 32, 33, 1000})
    void listsAllKeysInOrder(int namesAtATime) throws IOException {
        assertThat(list(namesAtATime)).containsExactlyElementsOf(keys);
    }

    @Test
    void skipsFilesWithoutKey() throws IOException {
        Files.createFile(root.resolve("~lock"));
        Files.createDirectory(root.resolve("lost+found"));
        Files.createFile(root.resolve("with space"));
        assertThat(list(1000)).containsExactlyElementsOf(keys);
    }

    private List<String> list(int namesAtATime) throws IOException {
        List<String> listedKeys = new ArrayList<>();
        FileObjectStore.DirectoryListing listing = new FileObjectStore.DirectoryListing(root, namesAtATime, "");
        for (listing.advance(); listing.current != null; listing.advance()) {
            listedKeys.add(listing.current.key());
        }
        return listedKeys;
    }
}
