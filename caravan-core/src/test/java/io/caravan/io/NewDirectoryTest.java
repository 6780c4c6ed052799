package io.caravan.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.StoreDirectoryException;
import io.caravan.StoreLockedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Tests that one attempt at a time has a new directory, until the directory is published or gone. */
@Isolated("replaces the system properties")
class NewDirectoryTest {
    /** The maximum length of a path in Linux, without the zero byte at its end. */
    private static final int MAX_PATH = 4095;

    @TempDir
    private Path parent;

    /** System properties, which hold the registry of locks, that run an action when the first lock is released. */
    private static final class WatchedLocks extends Properties {
        private static final long serialVersionUID = 1L;

        private final Properties original;
        private final transient Runnable released;
        private boolean watching = true;

        WatchedLocks(Properties properties, Runnable released) {
            putAll(properties);
            this.original = properties;
            this.released = released;
        }

        @Override
        public synchronized Object remove(Object key) {
            Object removed = super.remove(key);
            original.remove(key);
            if (watching && key.toString().startsWith("io.caravan.lock.")) {
                watching = false;
                released.run();
            }
            return removed;
        }
    }

    @Test
    void secondBeginKeepsDirectoryOfFirst() throws IOException {
        Path name = parent.resolve("new");
        try (NewDirectory first = NewDirectory.begin(name, file -> true)) {
            assertThatThrownBy(() -> NewDirectory.begin(name, file -> true)).isInstanceOf(StoreLockedException.class);
            assertThat(first.path()).isNotEmptyDirectory();
        }
        assertThat(parent).isEmptyDirectory();
    }

    /** Checks an attempt whose lock file cannot be created because its path is too long. */
    @Test
    void failedBeginLeavesNoDirectory() throws IOException {
        Path below = parent;
        while (below.toString().length() + 400 < MAX_PATH) {
            below = below.resolve("x".repeat(200));
        }
        Files.createDirectories(below);
        int left = MAX_PATH - below.toString().length() - 1 - NewDirectory.ENDING.length();
        Path last = Files.createDirectory(below.resolve("y".repeat(left / 2)));
        Path name = last.resolve("z".repeat(left - left / 2 - 1));
        assertThatThrownBy(() -> NewDirectory.begin(name, file -> true)).isInstanceOf(IOException.class);
        assertThat(last).isEmptyDirectory();
    }

    @Test
    void failedBeginKeepsSymbolicLink() throws IOException {
        Path name = parent.resolve("copy");
        Path link = Files.createSymbolicLink(parent.resolve("copy" + NewDirectory.ENDING), parent.resolve("missing"));
        assertThatThrownBy(() -> NewDirectory.begin(name, file -> true)).isInstanceOf(StoreDirectoryException.class);
        assertThat(link).isSymbolicLink();
    }

    /** Checks that a directory that this process has locked under another name is reported as locked. */
    @Test
    void renamedDirectoryIsLocked() throws IOException {
        Path renamed = parent.resolve("renamed");
        NewDirectory directory = NewDirectory.begin(parent.resolve("copy"), file -> true);
        Files.move(directory.path(), renamed);
        assertThatThrownBy(() -> FileStorage.open(renamed, FileStorage.Access.WRITE, any -> {}))
                .isInstanceOf(StoreLockedException.class);
        Files.move(renamed, directory.path());
        directory.close();
        assertThat(parent).isEmptyDirectory();
    }

    /** Checks that an attempt whose directory another program has deleted does not keep the name locked. */
    @Test
    void releasesLockIfDirectoryIsGone() throws IOException {
        Path name = parent.resolve("copy");
        NewDirectory gone = NewDirectory.begin(name, file -> true);
        Files.delete(gone.path().resolve(DirectoryLock.FILE_NAME));
        Files.delete(gone.path());
        assertThatIOException().isThrownBy(gone::close);
        try (NewDirectory again = NewDirectory.begin(name, file -> true)) {
            again.publish();
        }
        assertThat(name).isDirectory();
    }

    /** Checks that a process that waited for the lock file of a failed attempt cannot lock the deleted file. */
    @Test
    void deletesLockFileBeforeReleasingLock() throws IOException {
        Path name = parent.resolve("copy");
        List<Boolean> there = new ArrayList<>();
        Properties properties = System.getProperties();
        try {
            NewDirectory failed = NewDirectory.begin(name, file -> true);
            Path lock = failed.path().resolve(DirectoryLock.FILE_NAME);
            System.setProperties(new WatchedLocks(properties, () -> there.add(Files.exists(lock))));
            failed.close();
        } finally {
            System.setProperties(properties);
        }
        assertThat(there).containsExactly(false);
    }

    /** Checks that another attempt for the same name finds no unlocked directory, whose files it would delete. */
    @Test
    void attemptDuringPublicationDeletesNothing() throws IOException {
        Path name = parent.resolve("copy");
        List<Throwable> rejections = new ArrayList<>();
        Properties properties = System.getProperties();
        try (NewDirectory directory = NewDirectory.begin(name, file -> true)) {
            directory.storage().create("data", 1).close();
            System.setProperties(new WatchedLocks(
                    properties, () -> rejections.add(catchThrowable(() -> NewDirectory.begin(name, file -> true)))));
            directory.publish();
        } finally {
            System.setProperties(properties);
        }
        assertThat(name.resolve("data")).exists();
        assertThat(rejections).singleElement().isInstanceOf(StoreDirectoryException.class);
    }
}
