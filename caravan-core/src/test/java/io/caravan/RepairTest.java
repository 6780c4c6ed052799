package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.testing.DirectoryImage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RepairTest {
    private static final int BLOCK = StoreConfig.BLOCK_BYTES;
    private static final String FIRST_LOG = "log-0000000000000000.wal";

    @TempDir
    Path work;

    @Test
    void cutsLogBeforeDamageAndKeepsChangedFiles() throws Exception {
        Path store = killedAfterAppends(5);
        // Each append has its own frame, and therefore its own block. The third block is damaged.
        byte[] damaged = flip(store.resolve(FIRST_LOG), 3 * BLOCK + 60);
        assertThatThrownBy(() -> open(store))
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContaining("repair");

        RepairReport plan = DurableListStore.planRepair(store, VerifyReport.Progress.NONE);
        assertThat(plan.cutLsn()).isEqualTo(3 * BLOCK);
        assertThat(plan.keptFiles()).contains(store.resolve(FIRST_LOG).toString());
        assertThat(Files.readAllBytes(store.resolve(FIRST_LOG))).isEqualTo(damaged);

        List<String> steps = new ArrayList<>();
        RepairReport report =
                DurableListStore.repair(store, work.resolve("kept"), (step, done, total) -> steps.add(step));

        assertThat(report.cutLsn()).isEqualTo(3 * BLOCK);
        assertThat(Files.readAllBytes(work.resolve("kept").resolve(FIRST_LOG))).isEqualTo(damaged);
        assertThat(report.keptFiles())
                .contains(work.resolve("kept").resolve(FIRST_LOG).toString());
        assertThat(steps)
                .containsSubsequence("checkpoints", "log", "checkpoints", "whole log", "checkpoints", "log", "copies");
        try (ListStore opened = open(store)) {
            assertThat(opened.read(1)).hasSize(2);
            assertThat(opened.append(1, new byte[1]).join()).isEqualTo(2);
        }
        steps.clear();
        assertThat(DurableListStore.verify(store, (step, done, total) -> steps.add(step))
                        .faults())
                .isEmpty();
        assertThat(steps).containsSubsequence("checkpoints", "log", "entries");
    }

    @Test
    void leavesIntactStoreUnchanged() throws Exception {
        Path store = killedAfterAppends(3);
        byte[] before = Files.readAllBytes(store.resolve(FIRST_LOG));

        assertThat(DurableListStore.repair(store, work.resolve("kept"), VerifyReport.Progress.NONE)
                        .nothingDone())
                .isTrue();

        assertThat(Files.readAllBytes(store.resolve(FIRST_LOG))).isEqualTo(before);
        assertThat(work.resolve("kept")).doesNotExist();
    }

    @Test
    void rejectsNestedOrNonEmptyCopyDirectory() throws Exception {
        Path store = killedAfterAppends(3);
        Files.writeString(Files.createDirectory(work.resolve("full")).resolve("letter"), "keep me");

        Path link = Files.createSymbolicLink(work.resolve("link"), store);
        for (Path inside : List.of(store.resolve("kept"), store.resolve("a/kept"), link.resolve("kept"))) {
            assertThatThrownBy(() -> DurableListStore.repair(store, inside, VerifyReport.Progress.NONE))
                    .isInstanceOf(StoreDirectoryException.class)
                    .hasMessageContaining("inside");
        }
        assertThatThrownBy(() -> DurableListStore.repair(store, work.resolve("full"), VerifyReport.Progress.NONE))
                .isInstanceOf(StoreDirectoryException.class)
                .hasMessageContaining("not empty");
    }

    /**
     * Checks that a repair changes nothing if the log is not all that is damaged, and that it does not visit every
     * number up to the huge segment number in a file name.
     */
    @Test
    @Timeout(600)
    void changesNothingIfAnotherFaultRemains() throws Exception {
        Path store = killedAfterAppends(3);
        Files.write(store.resolve("log-7fffffffffffffff.wal"), Files.readAllBytes(store.resolve(FIRST_LOG)));
        flip(store.resolve("heap-0000000000000000.dat"), 3);
        DirectoryImage damaged = DirectoryImage.of(store);

        assertThatThrownBy(() -> DurableListStore.repair(store, work.resolve("kept"), VerifyReport.Progress.NONE))
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContaining("heap-0000000000000000.dat");
        assertThat(DirectoryImage.of(store).differences(damaged)).isEmpty();
        assertThat(work.resolve("kept")).doesNotExist();
    }

    /** Checks that recovery takes no position from a file that cannot be an older checkpoint of this store. */
    @Test
    void damagedForeignFileInPlaceOfOlderCheckpointIsRemoved() throws Exception {
        Path other = work.resolve("other");
        try (DurableListStore longer = DurableListStore.open(config(other))) {
            for (int i = 0; i < 300; i++) {
                longer.append(1, new byte[] {(byte) i}).join();
            }
        }
        Path store = killedAfterAppends(5);
        open(store).close();
        List<Path> own = checkpoints(store);
        List<Path> foreign = checkpoints(other);
        Files.copy(foreign.get(foreign.size() - 1), own.get(0), StandardCopyOption.REPLACE_EXISTING);
        flip(own.get(0), 60);

        assertThat(own.size()).isGreaterThan(1);
        open(store).close();
        assertThat(DurableListStore.verify(store, VerifyReport.Progress.NONE).faults())
                .isEmpty();
    }

    /** Returns the checkpoints of a store, the oldest first. */
    private static List<Path> checkpoints(Path store) throws IOException {
        try (Stream<Path> files = Files.list(store)) {
            return files.filter(file -> file.getFileName().toString().startsWith("checkpoint-"))
                    .sorted()
                    .toList();
        }
    }

    /** Returns the directory of a store that was killed after {@code count} appends. */
    private Path killedAfterAppends(int count) throws Exception {
        Path killed = work.resolve("killed");
        WatchedScheduler threads = new WatchedScheduler();
        try (ListStore store = threads.open(config(work.resolve("store")))) {
            for (int i = 0; i < count; i++) {
                store.append(1, new byte[] {(byte) i}).join();
            }
            DirectoryImage.ofSettled(work.resolve("store"), threads).writeTo(killed);
        }
        return killed;
    }

    private static ListStore open(Path directory) {
        return DurableListStore.open(config(directory));
    }

    private static StoreConfig config(Path directory) {
        return SmallStore.config(directory).build();
    }

    private static byte[] flip(Path file, int offset) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[offset] ^= 1;
        return Files.readAllBytes(Files.write(file, bytes));
    }
}
