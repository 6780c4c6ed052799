package io.caravan.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.StoreLockedException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NewDirectoryTest {
    /** The maximum length of a path in Linux, without the zero byte at its end. */
    private static final int MAX_PATH = 4095;

    @TempDir
    private Path directory;

    /** The lock file cannot be created, because its path is too long, as it cannot be created on a full disk. */
    @Test
    void failedBeginLeavesNoDirectory() throws IOException {
        Path parent = directory;
        while (parent.toString().length() + 400 < MAX_PATH) {
            parent = parent.resolve("x".repeat(200));
        }
        Files.createDirectories(parent);
        int left = MAX_PATH - parent.toString().length() - 1 - NewDirectory.ENDING.length();
        Path below = Files.createDirectory(parent.resolve("y".repeat(left / 2)));
        Path name = below.resolve("z".repeat(left - left / 2 - 1));
        assertThatThrownBy(() -> NewDirectory.begin(name, any -> true)).isInstanceOf(IOException.class);
        assertThat(below).isEmptyDirectory();
    }

    @Test
    void secondBeginKeepsDirectoryOfFirst() throws IOException {
        Path name = directory.resolve("new");
        try (NewDirectory first = NewDirectory.begin(name, any -> true)) {
            assertThatThrownBy(() -> NewDirectory.begin(name, any -> true)).isInstanceOf(StoreLockedException.class);
            assertThat(first.path()).isNotEmptyDirectory();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void reasonHasNoClassNameIfThereIsAMessage() {
        assertThat(FileStorage.reason(new IOException("No space left on device")))
                .isEqualTo("No space left on device");
        assertThat(FileStorage.reason(new FileSystemException("f", null, "Read-only file system")))
                .isEqualTo("f: Read-only file system");
        assertThat(FileStorage.reason(new AccessDeniedException("f"))).isEqualTo("f: this user lacks the permission");
        assertThat(FileStorage.reason(new NoSuchFileException("f"))).isEqualTo("java.nio.file.NoSuchFileException: f");
    }
}
