package io.caravan;

import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.testing.Faults;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests backups to a real directory: a backup either is complete under its final name or leaves no files. */
class BackupTest {
    @TempDir
    Path work;

    @Test
    void backupHasSameContentsAsStore() {
        Path target = work.resolve("deep/backup");
        try (DurableListStore store = filled()) {
            BackupReport report = store.backup(target, BackupReport.Progress.NONE);

            assertThat(report.files()).isEqualTo(3);
            assertThat(Faults.of(target)).isEmpty();
            try (ListStore copy =
                    DurableListStore.open(SmallStore.config(target).build())) {
                assertThat(StoreContents.of(copy)).isEqualTo(StoreContents.of(store));
            }
        }
        assertThat(work.resolve("deep/backup.partial")).doesNotExist();
    }

    @Test
    void rejectsAndKeepsNonEmptyDirectory() throws Exception {
        Path target = Files.createDirectory(work.resolve("backup"));
        Path letter = Files.writeString(target.resolve("letter"), "keep me");
        Path partial = Files.createDirectory(work.resolve("other.partial"));
        Path other = Files.writeString(partial.resolve("letter"), "keep me too");
        try (DurableListStore store = filled()) {
            assertThatThrownBy(() -> store.backup(target, BackupReport.Progress.NONE))
                    .isInstanceOf(StoreDirectoryException.class)
                    .hasMessageContaining("not empty");
            assertThatThrownBy(() -> store.backup(work.resolve("other"), BackupReport.Progress.NONE))
                    .isInstanceOf(StoreDirectoryException.class)
                    .hasMessageContaining("letter");
        }
        assertThat(letter).exists();
        assertThat(other).exists();
    }

    @Test
    void rejectsSymbolicLink() throws Exception {
        Path directory = Files.createDirectory(work.resolve("directory"));
        Path link = Files.createSymbolicLink(work.resolve("link"), directory);
        try (DurableListStore store = filled()) {
            assertThatThrownBy(() -> store.backup(link, BackupReport.Progress.NONE))
                    .isInstanceOf(StoreDirectoryException.class)
                    .hasMessageContaining("symbolic link");
        }
        assertThat(link).isSymbolicLink();
        assertThat(directory).isEmptyDirectory();
    }

    /** Checks that no backup makes a directory in that of a store, which then could not be opened again. */
    @Test
    void rejectsDirectoryInsideStore() throws Exception {
        Path link = work.resolve("link");
        try (DurableListStore store = filled()) {
            Files.createSymbolicLink(link, work.resolve("store"));
            for (Path target : List.of(work.resolve("store"), work.resolve("store/a/backup"), link.resolve("backup"))) {
                assertThatThrownBy(() -> store.backup(target, BackupReport.Progress.NONE))
                        .isInstanceOf(StoreDirectoryException.class)
                        .hasMessageContaining("inside");
            }
        }
        filled().close();
    }

    @Test
    void removesCanceledBackupAndReplacesKilledOne() throws Exception {
        Path target = work.resolve("backup");
        try (DurableListStore store = filled()) {
            assertThatThrownBy(() -> store.backup(target, (done, total) -> {
                        assertThat(work.resolve("backup.partial")).exists();
                        throw new IllegalStateException("cancelled");
                    }))
                    .hasMessage("cancelled");
            assertThat(work.resolve("backup.partial")).doesNotExist();
            assertThat(target).doesNotExist();

            Files.createDirectory(work.resolve("backup.partial"));
            Files.write(work.resolve("backup.partial/log-00000000000000ff.wal"), new byte[9]);
            store.backup(target, BackupReport.Progress.NONE);
        }
        assertThat(target.resolve("log-00000000000000ff.wal")).doesNotExist();
    }

    @Test
    void rejectsConcurrentBackupToSameDirectory() {
        Path target = work.resolve("backup");
        try (DurableListStore store = filled()) {
            assertThatThrownBy(() ->
                            store.backup(target, (done, total) -> store.backup(target, BackupReport.Progress.NONE)))
                    .isInstanceOf(StoreLockedException.class);
        }
        assertThat(target).doesNotExist();
    }

    private DurableListStore filled() {
        DurableListStore store =
                DurableListStore.open(SmallStore.config(work.resolve("store")).build());
        for (int i = 0; i < 50; i++) {
            store.append(i % 7, bytes(i * 13, i)).join();
        }
        store.checkpoint();
        store.append(3, bytes(9, 9)).join();
        return store;
    }
}
