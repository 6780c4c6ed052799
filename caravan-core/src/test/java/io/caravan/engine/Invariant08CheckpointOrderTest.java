package io.caravan.engine;

import static io.caravan.engine.FaultyStore.CHECKPOINT;
import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.engine.FaultyStore.UNFINISHED_CHECKPOINT;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.Durability;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.StoreContents;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Invariant 8: a checkpoint is published by write, fsync, rename, and fsync of the directory. The store keeps the last
 * two checkpoints, and the log since the older one. Files that neither needs are deleted only afterward.
 */
@LongTimeout
class Invariant08CheckpointOrderTest {
    private static final Predicate<Call> DELETES = on(Kind.DELETE, ".*");
    private static final Predicate<Call> RECYCLING =
            on(Kind.RENAME, LOG).and(call -> call.file().matches(LOG));

    /** Opens a store with three checkpoints and so much log that the next publication deletes and recycles files. */
    private static FaultyStore withThreeCheckpoints() {
        FaultyStore store = FaultyStore.open();
        for (int i = 0; i < 3; i++) {
            append(store.engine, 1, "x".repeat(4000), "y".repeat(4000), "z".repeat(4000), "short " + i);
            store.engine.checkpoint();
        }
        append(store.engine, 1, "x".repeat(4000), "last");
        store.awaitProvisioned();
        return store;
    }

    /** Checks that {@code awaitProvisioned} waits for recycling, which ends long after the store becomes writable. */
    @Test
    void storeIsProvisionedOnlyAfterRecycling() throws Exception {
        try (FaultyStore store = withThreeCheckpoints()) {
            FutureTask<Void> provisioned = new FutureTask<>(store::awaitProvisioned, null);
            try (Hold hold = store.faults.hold(RECYCLING)) {
                store.engine.checkpoint();
                hold.awaitReached();
                Eventually.runUntilWaiting(provisioned);
                assertThat(provisioned).isNotDone();
            }
            provisioned.get();
        }
    }

    @Test
    void checkpointStepsRunInOrderBeforeDeletions() {
        try (FaultyStore store = withThreeCheckpoints()) {
            store.faults.clearCalls();
            store.engine.checkpoint();
            store.awaitProvisioned();
            List<Call> calls = store.faults.calls();
            int heapForce = first(calls, on(Kind.FORCE, HEAP));
            int create = first(calls, on(Kind.CREATE, UNFINISHED_CHECKPOINT));
            int[] writes = places(calls, on(Kind.WRITE, UNFINISHED_CHECKPOINT));
            int force = first(calls, on(Kind.FORCE, UNFINISHED_CHECKPOINT));
            int rename = first(calls, on(Kind.RENAME, CHECKPOINT));
            int directory = rename + first(calls.subList(rename, calls.size()), on(Kind.FORCE_DIRECTORY, ""));
            assertThat(List.of(heapForce, create, writes[writes.length - 1], force, rename, directory))
                    .as("places of the steps in the order of calls")
                    .isSorted()
                    .doesNotHaveDuplicates();
            assertThat(first(calls, on(Kind.DELETE, CHECKPOINT))).isGreaterThan(directory);
            assertThat(first(calls, RECYCLING)).isGreaterThan(directory);
            assertThat(calls.stream().filter(on(Kind.FORCE, UNFINISHED_CHECKPOINT)))
                    .hasSize(1);
        }
    }

    private static int first(List<Call> calls, Predicate<Call> wanted) {
        return places(calls, wanted)[0];
    }

    private static int[] places(List<Call> calls, Predicate<Call> wanted) {
        int[] places = IntStream.range(0, calls.size())
                .filter(i -> wanted.test(calls.get(i)))
                .toArray();
        assertThat(places).as("such calls in " + calls).isNotEmpty();
        return places;
    }

    /**
     * Holds each step in turn, and checks that a power cut before the fsync of the directory leaves the previous
     * checkpoint and all its files.
     */
    @Test
    void nothingIsLostOrDeletedBeforeDirectoryFsync() throws Exception {
        List<Predicate<Call>> steps = List.of(
                nth(1, on(Kind.CREATE, UNFINISHED_CHECKPOINT)),
                nth(4, on(Kind.WRITE, UNFINISHED_CHECKPOINT)),
                nth(1, on(Kind.FORCE, UNFINISHED_CHECKPOINT)),
                nth(1, on(Kind.RENAME, CHECKPOINT)),
                nth(1, on(Kind.FORCE_DIRECTORY, "")));
        for (Predicate<Call> step : steps) {
            try (FaultyStore store = withThreeCheckpoints()) {
                store.faults.clearCalls();
                StoreContents expected = StoreContents.of(store.engine);
                store.duringCheckpoint(step, () -> {
                    assertThat(store.faults.calls(DELETES)).isEmpty();
                    assertThat(store.faults.calls(RECYCLING)).isEmpty();
                    try (FaultyStore cut = store.afterPowerCut();
                            FaultyStore killed = store.afterKill()) {
                        assertThat(cut.files(CHECKPOINT)).contains(FileNames.CHECKPOINT.of(3));
                        assertThat(StoreContents.of(cut.engine)).isEqualTo(expected);
                        assertThat(StoreContents.of(killed.engine)).isEqualTo(expected);
                        cut.closeAndVerify();
                        killed.closeAndVerify();
                    }
                });
                assertThat(store.faults.calls(on(Kind.DELETE, CHECKPOINT))).hasSize(1);
            }
        }
    }

    /** Checks that a log segment is not recycled before the checkpoint that needs it is permanently deleted. */
    @Test
    void recyclesLogOnlyAfterOldestCheckpointIsDeleted() throws Exception {
        try (FaultyStore store = withThreeCheckpoints()) {
            store.faults.clearCalls();
            store.duringCheckpoint(on(Kind.DELETE, CHECKPOINT), () -> {
                // New segments cause work for the provisioner, which also recycles segments.
                append(store.engine, 2, "x".repeat(4000), "y".repeat(4000), "z".repeat(4000), "x".repeat(4000));
                store.awaitProvisioned();
                assertThat(store.faults.calls(RECYCLING)).isEmpty();
            });
            store.awaitProvisioned();
            assertThat(store.faults.calls(RECYCLING)).isNotEmpty();
        }
    }

    @Test
    void keepsTwoCheckpointsAndLogSinceOlder() throws IOException {
        LogGeometry geometry = new LogGeometry(FaultyStore.LOG_SEGMENT_BYTES);
        try (FaultyStore store = FaultyStore.open()) {
            for (int i = 1; i <= 12; i++) {
                append(store.engine, 1, "x".repeat(4000), "y".repeat(4000), "short " + i);
                store.engine.checkpoint();
                store.awaitProvisioned();
                List<String> kept = store.files(CHECKPOINT);
                assertThat(kept).containsExactly(FileNames.CHECKPOINT.of(i - 1), FileNames.CHECKPOINT.of(i));
                long needed = geometry.segmentOf(header(store, i - 1).startLsn());
                assertThat(store.files(LOG)).contains(FileNames.LOG.of(needed));
                assertOpensFromTheOlder(store, i);
            }
            assertThat(store.files(LOG)).doesNotContain(FileNames.LOG.of(0));
        }
    }

    private static CheckpointHeader header(FaultyStore store, long number) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(store.disk, number)) {
            return reader.header();
        }
    }

    private static void assertOpensFromTheOlder(FaultyStore store, long newest) {
        var cut = store.disk.powerCut();
        String name = FileNames.CHECKPOINT.of(newest);
        var bytes = cut.bytes(name);
        bytes.put(bytes.capacity() - 1, (byte) (bytes.get(bytes.capacity() - 1) ^ 1));
        try (FaultyStore older = FaultyStore.open(store.config, cut)) {
            assertThat(StoreContents.of(older.engine)).isEqualTo(StoreContents.of(store.engine));
        }
    }

    /** Checks that a checkpoint first fsyncs the log, because the checkpoint's index must not be ahead of the log. */
    @Test
    void checkpointIsNotPublishedBeforeLogFsync() throws Exception {
        try (FaultyStore store = FaultyStore.open(
                FaultyStore.small().durability(Durability.PROCESS).build())) {
            append(store.engine, 1, "not forced");
            FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
            try (Hold hold = store.faults.hold(on(Kind.FORCE, LOG))) {
                new Thread(checkpoint, "checkpoint").start();
                hold.awaitReached();
                assertThat(store.faults.calls(on(Kind.RENAME, CHECKPOINT)))
                        .as("but for the one of the creation")
                        .hasSize(1);
                assertThat(checkpoint).isNotDone();
            }
            checkpoint.get();
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:not forced");
        }
    }

    @Test
    void failedStepKeepsExistingCheckpoints() {
        for (Predicate<Call> step : List.of(
                on(Kind.CREATE, UNFINISHED_CHECKPOINT),
                on(Kind.WRITE, UNFINISHED_CHECKPOINT).and(call -> call.position() > 0),
                on(Kind.FORCE, UNFINISHED_CHECKPOINT),
                on(Kind.RENAME, CHECKPOINT))) {
            try (FaultyStore store = withThreeCheckpoints()) {
                List<String> before = store.files(CHECKPOINT);
                // The step keeps failing, because the store tries again after a second.
                store.faults.fail(step);
                assertThat(org.assertj.core.api.Assertions.catchThrowable(store.engine::checkpoint))
                        .isInstanceOf(io.caravan.StoreIoException.class);
                assertThat(store.files(CHECKPOINT)).isEqualTo(before);
                store.faults.heal();
                append(store.engine, 1, "a checkpoint that failed harms nothing");
                store.engine.checkpoint();
                assertThat(store.files(CHECKPOINT)).hasSize(2).isNotEqualTo(before);
            }
        }
    }

    /** Checks that a close reports an unexpected checkpoint failure instead of mistaking it for a full disk. */
    @Test
    void closeThrowsUnexpectedCheckpointFailure() {
        Predicate<FaultStorage.Call> broken = call -> {
            if (on(Kind.CREATE, UNFINISHED_CHECKPOINT).test(call)) {
                throw new IllegalStateException("broken on purpose");
            }
            return false;
        };
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "to be in a checkpoint");
            store.faults.fail(broken);
            assertThatIllegalStateException().isThrownBy(store.engine::close).withMessage("broken on purpose");
        }
    }
}
