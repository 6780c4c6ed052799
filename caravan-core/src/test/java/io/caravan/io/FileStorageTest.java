package io.caravan.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStorageTest {
    private final List<Path> forced = new ArrayList<>();

    @TempDir
    private Path folder;

    @Test
    void anOpeningForcesTheEntryOfEveryDirectoryThatItCreates() throws IOException {
        Path directory = folder.resolve("a").resolve("b");
        FileStorage.createDurably(directory, forced::add);
        assertThat(directory).isDirectory();
        assertThat(forced).containsExactly(folder.getParent(), folder, folder.resolve("a"));
    }

    @Test
    void anOpeningForcesTheEntryOfADirectoryThatExistedBefore() throws IOException {
        Path directory = Files.createDirectory(folder.resolve("a"));
        FileStorage.createDurably(directory, forced::add);
        assertThat(forced).containsExactly(folder);
    }
}
