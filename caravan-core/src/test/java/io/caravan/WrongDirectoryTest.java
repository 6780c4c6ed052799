package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.io.NewDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that an operation on a directory without a store leaves no file there, not even a lock file. */
class WrongDirectoryTest {
    private static final SalvageReport.Listener IGNORED = new SalvageReport.Listener() {
        @Override
        public void lost(SalvageReport.Loss loss) {}

        @Override
        public void at(String step, long done, long total) {}
    };

    @TempDir
    private Path parent;

    private enum Operation {
        OPEN {
            @Override
            void run(Path directory, Path other) {
                DurableListStore.open(directory).close();
            }
        },
        VERIFY {
            @Override
            void run(Path directory, Path other) {
                DurableListStore.verify(directory, VerifyReport.Progress.NONE);
            }
        },
        VERIFY_REPLICA {
            @Override
            void run(Path directory, Path other) {
                Replica.verify(directory, 0, VerifyReport.Progress.NONE);
            }
        },
        PLAN_REPAIR {
            @Override
            void run(Path directory, Path other) {
                DurableListStore.planRepair(directory, VerifyReport.Progress.NONE);
            }
        },
        REPAIR {
            @Override
            void run(Path directory, Path other) {
                DurableListStore.repair(directory, other, VerifyReport.Progress.NONE);
            }
        },
        SALVAGE {
            @Override
            void run(Path directory, Path other) {
                DurableListStore.salvage(directory, other, IGNORED);
            }
        },
        INSTALL_SNAPSHOT {
            @Override
            void run(Path directory, Path other) throws IOException {
                SnapshotInstaller.begin(directory).close();
            }
        };

        abstract void run(Path directory, Path other) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void leavesNoLockFileInDirectoryOfOtherFiles(Operation operation) throws IOException {
        Path letter = Files.writeString(parent.resolve("letter"), "Dear reader");
        assertRejected(operation);
        assertThat(parent).isDirectoryContaining(letter::equals);
        assertThat(parent.toFile().list()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"VERIFY", "VERIFY_REPLICA", "PLAN_REPAIR", "REPAIR", "SALVAGE"})
    void leavesNoLockFileInEmptyDirectory(Operation operation) {
        assertRejected(operation);
        assertThat(parent).isEmptyDirectory();
    }

    private void assertRejected(Operation operation) {
        Path other = parent.resolveSibling(parent.getFileName() + "-other");
        assertThatExceptionOfType(StoreDirectoryException.class).isThrownBy(() -> operation.run(parent, other));
        assertThat(other).doesNotExist();
    }

    @Test
    void backupLeavesNoLockFileInDirectoryWithTemporaryName() throws IOException {
        Path partial = Files.createDirectory(parent.resolve("copy" + NewDirectory.ENDING));
        Path letter = Files.writeString(partial.resolve("letter"), "Dear reader");
        try (DurableListStore store = DurableListStore.open(parent.resolve("store"))) {
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> store.backup(parent.resolve("copy"), BackupReport.Progress.NONE))
                    .withMessageContaining(letter.toString());
        }
        assertThat(partial.toFile().list()).containsExactly("letter");
    }
}
