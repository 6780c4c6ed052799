package io.caravan.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.StoreLockedException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStorageTest {
    private final List<Path> fsynced = new ArrayList<>();

    @TempDir
    private Path parent;

    @Test
    void createDurablyFsyncsParentOfEachCreatedDirectory() throws IOException {
        Path directory = parent.resolve("a").resolve("b");
        FileStorage.createDurably(directory, fsynced::add);
        assertThat(directory).isDirectory();
        assertThat(fsynced).containsExactly(parent.getParent(), parent, parent.resolve("a"));
    }

    /** Checks that no file is written on a read-only file system, not even the lock file. */
    @Test
    void readsDirectoryOnReadOnlyFileSystemWithoutWriting() throws IOException {
        Path directory = Files.createDirectory(parent.resolve("a"));
        Files.writeString(directory.resolve("data"), "data");
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.READ, any -> {}, path -> true)) {
            assertThat(storage.list()).containsExactly("data");
            assertThatThrownBy(() -> storage.create("more", 0)).hasMessageContaining("reading only");
        }
        assertThat(directory.resolve(DirectoryLock.FILE_NAME)).doesNotExist();
    }

    @Test
    void detectsOpenStoreOnReadOnlyFileSystem() throws IOException {
        Path directory = Files.createDirectory(parent.resolve("a"));
        try (Storage open = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
            assertThatThrownBy(() -> FileStorage.open(directory, FileStorage.Access.READ, any -> {}, path -> true))
                    .isInstanceOf(StoreLockedException.class);
            assertThat(open.list()).isEmpty();
        }
        String owner = Files.readString(directory.resolve(DirectoryLock.FILE_NAME));
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.READ, any -> {}, path -> true)) {
            assertThat(storage.list()).isEmpty();
        }
        assertThat(directory.resolve(DirectoryLock.FILE_NAME)).hasContent(owner.strip());
        FileStorage.open(directory, FileStorage.Access.WRITE, any -> {}).close();
    }

    /** Checks that a store on a full disk can be opened, although the lock file has no space for the process id. */
    @Test
    void locksDirectoryWithoutSpaceForOwner() throws IOException {
        Path directory = Files.createDirectory(parent.resolve("a"));
        Path full = Files.createSymbolicLink(directory.resolve(DirectoryLock.FILE_NAME), Path.of("/dev/full"));
        for (int i = 0; i < 2; i++) {
            try (Storage storage = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
                assertThat(storage.list()).isEmpty();
                assertThatThrownBy(() -> FileStorage.open(directory, FileStorage.Access.WRITE, any -> {}))
                        .isInstanceOf(StoreLockedException.class);
            }
        }
        Files.delete(full);
    }

    /** Checks for an {@code IOException}, after which a caller retries; other exceptions would make the store fail. */
    @Test
    void reportsUnreadableDirectoryAsIoError() {
        IOException broken = new IOException("Input/output error");
        assertThatThrownBy(() -> FileStorage.namesOf(() -> {
                    throw new DirectoryIteratorException(broken);
                }))
                .isSameAs(broken);
    }

    @Test
    void createDurablyFsyncsParentOfExistingDirectory() throws IOException {
        Path directory = Files.createDirectory(parent.resolve("a"));
        FileStorage.createDurably(directory, fsynced::add);
        assertThat(fsynced).containsExactly(parent);
    }

    @Test
    void describesProblemsInWords() {
        String file = "the file 'f' cannot be read or written: ";
        assertThat(FileStorage.problem(new FileSystemException("f", null, "Read-only file system")))
                .isEqualTo(file + "Read-only file system");
        assertThat(FileStorage.problem(new AccessDeniedException("f")))
                .isEqualTo(file + "this user lacks the permission");
        assertThat(FileStorage.problem(new FileAlreadyExistsException("f"))).isEqualTo(file + "it exists already");
        assertThat(FileStorage.problem(new NotDirectoryException("f"))).isEqualTo(file + "it is not a directory");
        assertThat(FileStorage.problem(new NoSuchFileException("f"))).isEqualTo("there is no file 'f'");
        assertThat(FileStorage.problem(new NoSuchFileException("/absent/f")))
                .isEqualTo("there is no directory '/absent' for '/absent/f'");
        assertThat(FileStorage.problem(new IOException("the disk is gone"))).isEqualTo("the disk is gone");
        assertThat(FileStorage.problem(new IOException())).isEqualTo("IOException");
    }
}
