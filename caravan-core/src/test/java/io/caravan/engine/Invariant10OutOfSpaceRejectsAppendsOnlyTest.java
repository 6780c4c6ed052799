package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.HEAP_SEGMENT_BYTES;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.engine.FaultyStore.UNFINISHED_CHECKPOINT;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.WriteBatch;
import io.caravan.collections.LongPages;
import io.caravan.format.Blocks;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.RecordLayout;
import io.caravan.index.ListIndex;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreContents;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Invariant 10: a store without space rejects appends with a clear error, and everything else continues to work. When
 * space returns, it accepts appends again, without a restart. Files are allocated before they are mapped.
 */
@LongTimeout
class Invariant10OutOfSpaceRejectsAppendsOnlyTest {

    /** Appends values to a list until an append is rejected for lack of space. Returns the number of appends. */
    private static int fill(FaultyStore store, long id, int length) {
        return fill(store.engine, id, length);
    }

    private static int fill(Engine engine, long id, int length) {
        int count = 0;
        while (true) {
            try {
                await(engine.append(id, bytes(length, count)));
                count++;
            } catch (OutOfSpaceException full) {
                return count;
            }
        }
    }

    /** Returns a config with ample space in the heap, so that only the log runs out of space. */
    private static StoreConfig.Builder amplyHeaped() {
        return FaultyStore.small().heapSegmentBytes(4 << 20);
    }

    /** Opens a store whose heap can have at most this many segments. */
    private static FaultyStore withHeapSegments(int most) {
        return FaultyStore.open(
                FaultyStore.small().maxHeapBytes(most * HEAP_SEGMENT_BYTES).build());
    }

    private static OutOfSpaceException rejection(FaultyStore store, int length) {
        return catchThrowableOfType(
                OutOfSpaceException.class, () -> store.engine.append(1, bytes(length, 0), NO_CALLBACK));
    }

    @Test
    void rejectsOnlyAppendsWhenLogCannotGrow() {
        try (FaultyStore store = FaultyStore.open(amplyHeaped().build())) {
            for (int id = 10; id < 20; id++) {
                append(store.engine, id, "a", "b", "c");
            }
            store.awaitProvisioned();
            store.faults.full(true);
            int count = fill(store, 1, 2000);
            // There is no space for the next log segment, nor for the values that a checkpoint would move to the heap.
            assertThat(rejection(store, 1)).hasMessageContaining("No space left on device");
            assertThat(catchThrowableOfType(
                            OutOfSpaceException.class,
                            () -> store.engine.write(WriteBatch.create().append(1, bytes("x")), NO_CALLBACK)))
                    .isNotNull();

            assertThat(texts(store.engine, 10)).containsExactly("0:a", "1:b", "2:c");
            assertThat(awaitWrite(reported -> store.engine.trim(10, 1, reported)))
                    .isEqualTo(1);
            assertThat(awaitWrite(reported -> store.engine.trimTo(11, 2, reported)))
                    .isEqualTo(2);
            assertThat(awaitWrite(reported -> store.engine.delete(12, reported)))
                    .isEqualTo(-1);
            assertThat(texts(store.engine, 10)).containsExactly("1:b", "2:c");
            assertThat(texts(store.engine, 11)).containsExactly("2:c");
            assertThat(store.engine.info(12)).isNull();
            assertThat(store.engine.info(1).nextSequence()).isEqualTo(count);
            store.engine.flush();
            assertThat(store.engine.writable())
                    .as("a write is rejected, it does not wait")
                    .isTrue();
            StoreContents before = StoreContents.of(store.engine);
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(StoreContents.of(cut.engine)).isEqualTo(before);
            }

            store.faults.full(false);
            Eventually.await("appends are accepted again", () -> rejection(store, 1) == null);
            store.engine.flush();
            assertThat(store.engine.info(1).nextSequence()).isGreaterThan(count);
            store.closeAndVerify();
        }
    }

    /**
     * Checks that an append waits for the end of a checkpoint that frees the space of values trimmed during evacuation.
     */
    @Test
    void appendWaitsForSpaceTrimmedDuringEvacuation() throws Exception {
        try (FaultyStore store = withHeapSegments(1)) {
            int count = fill(store, 1, 2000);
            FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
            FutureTask<CompletableFuture<?>> append =
                    new FutureTask<>(() -> store.engine.append(1, bytes(2000, count)));
            try (Hold batch = store.faults.hold(nth(1, on(Kind.FORCE, HEAP)))) {
                new Thread(checkpoint).start();
                batch.awaitReached();
                assertThat(rejection(store, 2000)).as("nothing is trimmed").isNotNull();
                assertThat(awaitWrite(reported -> store.engine.trim(1, 3, reported)))
                        .isEqualTo(3);
                assertThat(store.engine.tryWrite(WriteBatch.create().append(1, bytes(2000, 0)), NO_CALLBACK))
                        .isFalse();
                assertThat(store.engine.writable()).isFalse();
                new Thread(append).start();
            }
            await(append.get());
            checkpoint.get();
            assertThat(fill(store, 1, 2000)).isEqualTo(2);
            store.closeAndVerify();
        }
    }

    /**
     * Checks that an append waits for the next checkpoint to free the space of values trimmed during a checkpoint
     * write.
     */
    @Test
    void appendWaitsForSpaceTrimmedDuringCheckpointWrite() throws Exception {
        StoreConfig config = FaultyStore.small()
                .heapSegmentBytes(1 << 18)
                .maxHeapBytes(1 << 18)
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            store.appendMany(1, 3, 2000);
            store.appendMany(1, 1 << 13, 8);
            store.engine.checkpoint();
            append(store.engine, 1, "something to write");
            fill(store, 2, 2000);
            Predicate<Call> full = on(Kind.WRITE, UNFINISHED_CHECKPOINT).and(call -> call.bytes() > 1 << 15);
            store.duringCheckpoint(full, () -> {
                assertThat(rejection(store, 2000)).as("nothing is trimmed").isNotNull();
                assertThat(awaitWrite(reported -> store.engine.trim(1, 3, reported)))
                        .isEqualTo(3);
                store.awaitIdleFlusher();
                assertThat(store.engine.tryWrite(WriteBatch.create().append(1, bytes(2000, 0)), NO_CALLBACK))
                        .isFalse();
            });
            await(store.engine.append(1, bytes(2000, 0)));
            store.closeAndVerify();
        }
    }

    /** Checks that the reserve, a log segment of 255 frames, accepts 200 trims and deletes with one flush each. */
    @Test
    void reserveAcceptsManyTrimsAndDeletes() {
        StoreConfig config = amplyHeaped().logSegmentBytes(1 << 20).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            for (int id = 100; id < 300; id++) {
                store.engine.append(id, bytes("a"), NO_CALLBACK);
                store.engine.append(id, bytes("b"), NO_CALLBACK);
            }
            store.engine.flush();
            store.awaitProvisioned();
            store.faults.full(true);
            fill(store, 1, 2000);
            for (int id = 100; id < 200; id++) {
                int trimmed = id;
                assertThat(awaitWrite(reported -> store.engine.trim(trimmed, 1, reported)))
                        .isEqualTo(1);
            }
            for (int id = 200; id < 300; id++) {
                int deleted = id;
                assertThat(awaitWrite(reported -> store.engine.delete(deleted, reported)))
                        .isEqualTo(-1);
            }
            assertThat(texts(store.engine, 199)).containsExactly("1:b");
            assertThat(store.engine.info(299)).isNull();
            assertThat(rejection(store, 1)).isNotNull();
        }
    }

    /** Checks that neither the smallest append nor one in a batch with a trim uses the reserve. */
    @Test
    void appendsDoNotUseReserve() {
        try (FaultyStore store = FaultyStore.open(amplyHeaped().build())) {
            append(store.engine, 5, "a", "b");
            store.awaitProvisioned();
            store.faults.full(true);
            fill(store, 1, 3000);
            fill(store, 1, 1);
            for (int i = 0; i < 2; i++) {
                assertThat(awaitWrite(reported -> store.engine.trim(5, 1, reported)))
                        .isPositive();
                assertThat(catchThrowableOfType(
                                OutOfSpaceException.class,
                                () -> store.engine.write(
                                        WriteBatch.create()
                                                .append(5, bytes("x"))
                                                .trimTo(1, 1),
                                        NO_CALLBACK)))
                        .isNotNull();
            }
        }
    }

    /** A batch that deletes a list and records this. */
    private static WriteBatch recordedDeletion(int id) {
        return recordedDeletions(id, 1);
    }

    private static WriteBatch recordedDeletions(int firstId, int count) {
        WriteBatch batch = WriteBatch.create();
        for (int id = firstId; id < firstId + count; id++) {
            batch.delete(id).append(5, bytes(100, id));
        }
        return batch;
    }

    /**
     * Checks that batches that delete lists may append records, although the disk is full, until they fill a sixteenth
     * of the segment. A large frame of appends before them leaves this space.
     */
    @Test
    void recordedDeletionsUseReserveOfLog() {
        int segmentBytes = 1 << 20;
        StoreConfig config = amplyHeaped()
                .maxValueBytes(segmentBytes / 8)
                .logBufferBytes(segmentBytes / 2)
                .logSegmentBytes(segmentBytes)
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            for (int id = 100; id < 600; id++) {
                store.engine.append(id, bytes("a"), NO_CALLBACK);
            }
            store.engine.flush();
            store.awaitProvisioned();
            store.faults.fail(on(Kind.CREATE, ".*"));
            fill(store, 1, segmentBytes / 8);
            fill(store, 1, 1);
            awaitWrite(reported -> store.engine.trim(1, 1, reported));
            assertMissingListGivesNoReserve(store);
            // Each batch may take a block, so there are fewer batches than blocks.
            int deletions = 20;
            int recorded = 0;
            while (rejection(store.engine, recordedDeletions(100 + recorded, deletions)) == null) {
                recorded += deletions;
                assertThat(rejection(store, 1)).isNotNull();
            }
            int batchBytes = deletions * (RecordLayout.DELETE_BYTES + RecordLayout.appendBytes(100));
            assertThat(recorded / deletions).isEqualTo(segmentBytes / 16 / batchBytes);
            assertThat(awaitWrite(reported -> store.engine.delete(599, reported)))
                    .isEqualTo(-1);
            assertPowerCutKeepsDeletions(store, 100, recorded);

            store.faults.heal();
            Eventually.await("appends are accepted again", () -> rejection(store, 1) == null);
            store.closeAndVerify();
        }
    }

    /** Checks that opening a full store again allows no more records, which could leave no space for deletions. */
    @ParameterizedTest
    @ValueSource(strings = {".*", "log-.*"})
    void reopeningDoesNotRenewReserveOfLog(String rejectedFiles) throws IOException {
        int segmentBytes = 1 << 20;
        StoreConfig config = amplyHeaped()
                .maxValueBytes(segmentBytes / 16)
                .logBufferBytes(segmentBytes / 4)
                .logSegmentBytes(segmentBytes)
                .build();
        MemoryStorage disk;
        try (FaultyStore store = FaultyStore.open(config)) {
            for (int id = 100; id < 200; id++) {
                append(store.engine, id, "a");
            }
            store.awaitProvisioned();
            store.faults.fail(on(Kind.CREATE, ".*"));
            fill(store, 1, segmentBytes / 16);
            fill(store, 1, 1);
            assertThat(largeRecordedDeletions(store.engine, 100, segmentBytes / 16 - 1000))
                    .isEqualTo(1);
            store.engine.flush();
            disk = store.disk.processKill();
        }
        int renewed = 0;
        for (int id = 150; id < 170; id++) {
            FaultStorage full = new FaultStorage(disk);
            full.fail(on(Kind.CREATE, rejectedFiles));
            full.fail(on(Kind.RENAME, "log-.*"));
            try (Engine reopened = Engine.open(config, full, System::nanoTime)) {
                renewed += largeRecordedDeletions(reopened, 101 + renewed, segmentBytes / 16 - 1000);
                int deleted = id;
                assertThat(awaitWrite(reported -> reopened.delete(deleted, reported)))
                        .isEqualTo(-1);
            }
        }
        assertThat(renewed).isZero();
    }

    /** Checks that the next leader of full replicas allows no more records than the previous leader has allowed. */
    @Test
    void leadingDoesNotRenewReserveOfLog() throws IOException {
        int segmentBytes = 1 << 20;
        StoreConfig config = amplyHeaped()
                .durability(Durability.PROCESS)
                .maxValueBytes(segmentBytes / 16)
                .logBufferBytes(segmentBytes / 4)
                .logSegmentBytes(segmentBytes)
                .build();
        WatchedScheduler threads = new WatchedScheduler();
        FaultStorage disk = new FaultStorage(new MemoryStorage());
        FaultStorage nextDisk = new FaultStorage(new MemoryStorage());
        List<ByteBuffer> frames = new ArrayList<>();
        try (Engine leader = Engine.openReplica(config, disk, System::nanoTime, threads, 1, 0);
                Engine next = Engine.openReplica(config, nextDisk, System::nanoTime, threads, 1, 0)) {
            leader.lead(frame ->
                    frames.add(ByteBuffer.allocate(frame.remaining()).put(frame).flip()));
            for (int id = 100; id < 200; id++) {
                append(leader, id, "a");
            }
            frames.forEach(next::replay);
            threads.awaitRest("caravan-provisioner");
            for (FaultStorage each : List.of(disk, nextDisk)) {
                each.fail(on(Kind.CREATE, ".*"));
                each.fail(on(Kind.RENAME, "log-.*"));
            }
            fill(leader, 1, segmentBytes / 16);
            fill(leader, 1, 1);
            assertThat(largeRecordedDeletions(leader, 100, segmentBytes / 16 - 1000))
                    .isEqualTo(1);
            leader.flush();
            frames.forEach(next::replay);
            next.lead(frame -> {});
            assertThat(largeRecordedDeletions(next, 101, segmentBytes / 16 - 1000))
                    .isZero();
            assertThat(awaitWrite(reported -> next.delete(199, reported))).isEqualTo(-1);
            disk.heal();
            nextDisk.heal();
        }
    }

    /** Deletes lists, each with a record of this length, until this is rejected. Returns the number of lists. */
    private static int largeRecordedDeletions(Engine engine, int firstId, int recordBytes) {
        int count = 0;
        while (true) {
            WriteBatch batch = WriteBatch.create().delete(firstId + count).append(5, bytes(recordBytes, count));
            if (rejection(engine, batch) != null) {
                return count;
            }
            count++;
        }
    }

    /** Checks that the deletions of these lists, and a record of each, survive a power cut. */
    private static void assertPowerCutKeepsDeletions(FaultyStore store, int firstId, int count) {
        store.engine.flush();
        try (FaultyStore cut = store.afterPowerCut()) {
            assertThat(cut.engine.read(5)).hasSize(count);
            for (int id = firstId; id < firstId + count; id++) {
                assertThat(cut.engine.info(id)).isNull();
            }
            assertThat(cut.engine.info(firstId + count)).isNotNull();
        }
    }

    /** Checks that a batch must delete a list that exists before the batch to use the reserve. */
    private static void assertMissingListGivesNoReserve(FaultyStore store) {
        assertThat(rejection(store.engine, recordedDeletion(999))).isNotNull();
        WriteBatch ownList = WriteBatch.create().append(999, bytes("x")).delete(999);
        assertThat(rejection(store.engine, ownList)).isNotNull();
    }

    /** Checks that the disk space left for the next checkpoint includes the records of deletions in the reserve. */
    @Test
    void leavesSpaceForRecordedDeletions() {
        int segmentBytes = 1 << 20;
        try (FaultyStore store =
                FaultyStore.open(amplyHeaped().logSegmentBytes(segmentBytes).build())) {
            store.awaitProvisioned();
            store.faults.usable(() -> 0);
            store.engine.provisioner.wake();
            Eventually.await("the log cannot grow", store.engine.provisioner::isLogOutOfSpace);
            long front = segmentBytes / 16;
            long appendable = 2L * segmentBytes - Blocks.BLOCK_BYTES + front + front;
            long slackBytes = 2L * store.engine.state.heapFile.geometry().growthBytes() + segmentBytes / 32;
            long needed = segmentBytes + CheckpointLayout.fileBytes(0, 0) + appendable + 3 * slackBytes;
            assertThat(store.engine.provisioner.logProblem()).contains(": " + needed + " bytes more are needed");
        }
    }

    @Test
    void emptyStoreAcceptsLongestValue() {
        StoreConfig config = FaultyStore.small()
                .logBufferBytes(16 << 10)
                .logSegmentBytes(32 << 10)
                .maxValueBytes(12_200)
                .maxHeapBytes(HEAP_SEGMENT_BYTES)
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            assertThat(rejection(store, 12_200)).isNull();
        }
    }

    /** Checks that the heap has a reserve for the records of deletions, which is available again after a trim. */
    @Test
    void recordedDeletionsUseReserveOfHeap() {
        StoreConfig config = FaultyStore.small()
                .heapSegmentBytes(1 << 18)
                .maxHeapBytes(1 << 18)
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            for (int id = 100; id < 600; id++) {
                append(store.engine, id, "");
            }
            fill(store, 1, 2000);
            fill(store, 1, 1);
            assertMissingListGivesNoReserve(store);
            int first = 100;
            for (int round = 0; round < 3; round++) {
                int recorded = 0;
                while (rejection(store.engine, recordedDeletion(first)) == null) {
                    recorded++;
                    first++;
                    assertThat(rejection(store, 1)).isNotNull();
                }
                assertThat(recorded).isBetween(35, 45);
                assertPowerCutKeepsDeletions(store, first - recorded, recorded);
                store.engine.checkpoint();
                awaitWrite(reported -> store.engine.trimTo(5, Long.MAX_VALUE, reported));
                store.engine.checkpoint();
                fill(store, 1, 1);
            }
            store.closeAndVerify();
        }
    }

    /** Checks that a batch does not use the reserve if its list is deleted while the batch waits for a checkpoint. */
    @Test
    void recordedDeletionIsRejectedIfListIsGoneAfterWait() throws Exception {
        StoreConfig config = FaultyStore.small()
                .heapSegmentBytes(1 << 18)
                .maxHeapBytes(1 << 18)
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            append(store.engine, 100, "a");
            append(store.engine, 101, "a");
            fill(store, 1, 2000);
            // Only places in the heap wait for a checkpoint when they are freed.
            store.engine.checkpoint();
            fill(store, 1, 1);
            await(store.engine.write(WriteBatch.create().delete(101).append(5, bytes(3000, 1))));
            awaitWrite(reported -> store.engine.trim(1, 1, reported));
            WriteBatch deletion = WriteBatch.create().delete(100).append(5, bytes(2500, 2));
            FutureTask<OutOfSpaceException> rejection = new FutureTask<>(() -> rejection(store.engine, deletion));
            try (Hold checkpoint = store.faults.hold(nth(1, on(Kind.WRITE, UNFINISHED_CHECKPOINT)))) {
                new Thread(rejection).start();
                checkpoint.awaitReached();
                awaitWrite(reported -> store.engine.delete(100, reported));
            }
            assertThat(rejection.get()).isNotNull();
            assertThat(store.engine.read(5)).hasSize(1);
            store.closeAndVerify();
        }
    }

    /** Checks that the log stops growing while it cannot be recycled because its values cannot move to the heap. */
    @Test
    void appendsAreRejectedWhileHeapCannotGrow() {
        StoreConfig config = FaultyStore.small().checkpointFloorBytes(30_000).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            append(store.engine, 100, "a");
            store.faults.fail(on(Kind.CREATE, "heap-.*"));
            Eventually.await("appends are rejected", () -> rejection(store, 3000) != null);
            assertThat(rejection(store, 3000)).hasMessageContaining("made to fail: CREATE of heap-");
            assertMissingListGivesNoReserve(store);
            assertThat(rejection(store.engine, recordedDeletion(100))).isNull();
            long count = store.engine.info(1).nextSequence();
            assertThat(store.engine.read(1)).hasSize((int) count);
            assertThat(awaitWrite(reported -> store.engine.trim(1, count - 1, reported)))
                    .isEqualTo(count - 1);
            Eventually.await("what is left finds room", () -> rejection(store, 3000) == null);

            Eventually.await("appends are rejected again", () -> rejection(store, 3000) != null);
            store.faults.heal();
            Eventually.await("the heap grows", () -> rejection(store, 3000) == null);
            store.closeAndVerify();
        }
    }

    @Test
    void trimFreesSpaceAtHeapLimit() {
        try (FaultyStore store = withHeapSegments(2)) {
            int count = fill(store, 1, 1000);
            assertThat(count).isBetween(22, 24);
            assertThat(rejection(store, 1000)).hasMessageContaining("it may have 24192");
            store.engine.checkpoint();
            assertThat(store.files(HEAP)).hasSize(2);
            for (int round = 0; round < 5; round++) {
                awaitWrite(reported -> store.engine.trim(1, 5, reported));
                assertThat(fill(store, 1, 1000)).isEqualTo(5);
            }
            assertThat(store.engine.read(1)).hasSize(count);
            awaitWrite(reported -> store.engine.delete(1, reported));
            assertThat(fill(store, 2, 1000)).isEqualTo(count);
            store.engine.checkpoint();
            assertThat(store.files(HEAP)).hasSize(2);
            store.closeAndVerify();
        }
    }

    /** Checks that a checkpoint that cannot extend the heap moves values to the space of trimmed values. */
    @Test
    void checkpointEvacuatesIntoTrimmedSpace() {
        try (FaultyStore store = withHeapSegments(2)) {
            int count = 12;
            store.appendMany(1, count, 1000);
            store.engine.checkpoint();
            store.faults.fail(on(Kind.CREATE, "heap-.*"));
            awaitWrite(reported -> store.engine.trim(1, count - 1, reported));
            store.appendMany(2, count - 1, 1000);
            store.engine.checkpoint();
            assertThat(store.files(HEAP)).hasSize(1);
            assertThat(store.engine.stats().heap().usedBytes()).isGreaterThan(count * 1000L);
            store.closeAndVerify();
        }
    }

    /** Checks that an append waits for a checkpoint that can free space, and is rejected if the checkpoint fails. */
    @Test
    void appendAtHeapLimitWaitsForCheckpoint() {
        try (FaultyStore store = withHeapSegments(1)) {
            fill(store, 1, 1000);
            store.engine.checkpoint();
            awaitWrite(reported -> store.engine.trim(1, 3, reported));
            store.awaitIdleFlusher();
            store.faults.fail(on(Kind.CREATE, FaultyStore.UNFINISHED_CHECKPOINT));
            assertThat(rejection(store, 1000))
                    .hasMessageContainingAll(
                            "can be used after the next checkpoint", "made to fail: CREATE of checkpoint-");
            // The append is not rejected while the checkpoint is being retried.
            Eventually.await("it is rejected again", store.engine::writable);
            store.faults.heal();
            Eventually.await("the checkpoint is tried again", () -> rejection(store, 1000) == null);
            assertThat(fill(store, 1, 1000)).isEqualTo(2);
            store.closeAndVerify();
        }
    }

    /** Returns the components of a store that uses this index, whose capacity is limited. */
    private static Engine withIndex(ListIndex index, StoreConfig config, MemoryStorage disk) throws IOException {
        NewStore.createEmpty(disk, config, NewStore.newStoreId());
        Recovered created = new Recovery(disk).recover();
        Recovered limited = new Recovered(
                created.checkpoints(),
                created.newestBytes(),
                created.log(),
                created.end(),
                created.bytesAfterFront(),
                created.heapFile(),
                index,
                created.heap(),
                created.freed(),
                created.cases());
        return new Engine(config, disk, limited, System::nanoTime, Scheduler.THREADS);
    }

    private static OutOfSpaceException rejection(Engine engine, WriteBatch batch) {
        return catchThrowableOfType(OutOfSpaceException.class, () -> engine.writes.write(batch, NO_CALLBACK, true));
    }

    /** Checks that a full list table rejects only new lists, and accepts one after a deleted list is freed. */
    @Test
    void fullListTableRejectsOnlyNewLists() throws Exception {
        StoreConfig config = FaultyStore.small().build();
        MemoryStorage disk = new MemoryStorage();
        Engine engine = withIndex(new ListIndex(2, LongPages.MAX_PAGES), config, disk);
        engine.start(false);
        engine.append(1, bytes("a"), NO_CALLBACK);
        engine.writes.write(WriteBatch.create().append(1, bytes("b")).append(2, bytes("c")), NO_CALLBACK, true);
        long used = engine.heapUse().usedBytes();
        WriteBatch newList = WriteBatch.create().append(3, bytes("new"));
        assertThat(rejection(engine, newList)).hasMessageContaining("has 2 lists and space for 0 more");
        assertThat(rejection(engine, WriteBatch.create().append(1, bytes("x")).append(3, bytes("x"))))
                .isNotNull();
        assertThat(rejection(engine, WriteBatch.create().delete(2).append(2, bytes("x"))))
                .isNotNull();
        assertThat(rejection(engine, WriteBatch.create().delete(2).append(3, bytes("x"))))
                .isNotNull();
        assertThat(engine.heapUse().usedBytes()).isEqualTo(used);

        engine.append(1, bytes("d"), NO_CALLBACK);
        engine.writes.write(WriteBatch.create().append(1, bytes("e")).append(2, bytes("f")), NO_CALLBACK, true);
        assertThat(rejection(engine, WriteBatch.create().delete(2).append(1, bytes("g"))))
                .isNull();
        Eventually.await("the deleted list is freed", () -> rejection(engine, newList) == null);
        assertThat(engine.state.failure()).isNull();
        engine.close();
        try (FaultyStore opened = FaultyStore.open(config, disk)) {
            assertThat(texts(opened.engine, 1)).containsExactly("0:a", "1:b", "2:d", "3:e", "4:g");
            assertThat(opened.engine.info(2)).isNull();
            assertThat(texts(opened.engine, 3)).containsExactly("0:new");
            opened.closeAndVerify();
        }
    }

    /** Checks that a full entry table rejects all appends until trimmed entries are freed. */
    @Test
    void fullEntryTableRejectsAppendsUntilTrim() throws Exception {
        StoreConfig config = FaultyStore.small().build();
        MemoryStorage disk = new MemoryStorage();
        int pages = 3;
        Engine engine = withIndex(new ListIndex(LongPages.MAX_PAGES, pages), config, disk);
        engine.start(false);
        WriteBatch one = WriteBatch.create().append(1, bytes("x"));
        int appended = 0;
        while (rejection(engine, one) == null) {
            appended++;
        }
        assertThat(appended).isBetween(LongPages.PAGE_LONGS / 2, pages * LongPages.PAGE_LONGS);
        assertThat(rejection(engine, one)).hasMessageContaining("has " + appended + " entries");
        assertThat(rejection(engine, WriteBatch.create().append(1, bytes("x")).append(2, bytes("x"))))
                .hasMessageContaining("has " + appended + " entries");

        engine.writes.trim(1, appended - 1, NO_CALLBACK);
        Eventually.await("what was trimmed is freed", () -> rejection(engine, one) == null);
        assertThat(engine.state.failure()).isNull();
        engine.close();
        try (FaultyStore opened = FaultyStore.open(config, disk)) {
            assertThat(texts(opened.engine, 1)).containsExactly(appended - 1 + ":x", appended + ":x");
            opened.closeAndVerify();
        }
    }

    @Test
    void rejectedBatchUsesNoSpace() {
        try (FaultyStore store = withHeapSegments(1)) {
            for (int i = 0; i < 10; i++) {
                await(store.engine.append(1, bytes(1000, i)));
            }
            long used = store.engine.stats().heap().usedBytes();
            WriteBatch batch = WriteBatch.create();
            for (int i = 0; i < 3; i++) {
                batch.append(2, bytes(1000, i));
            }
            assertThat(catchThrowableOfType(CaravanException.class, () -> store.engine.write(batch, NO_CALLBACK)))
                    .isInstanceOf(OutOfSpaceException.class);
            assertThat(store.engine.stats().heap().usedBytes()).isEqualTo(used);
            assertThat(store.engine.info(2)).isNull();
            assertThat(await(store.engine.append(2, bytes(1000, 1)))).isEqualTo(0);
        }
    }

    /** Checks that disk space for flushes is allocated in advance, and that space for the survivors is left. */
    @Test
    void preallocatesLogSegmentsLeavingSpaceForSurvivors() {
        AtomicLong usable = new AtomicLong(Long.MAX_VALUE);
        try (FaultyStore store = FaultyStore.open()) {
            store.faults.usable(usable::get);
            store.appendMany(1, 30, 3000);
            assertThat(store.faults.calls(on(Kind.CREATE, "log-.*")))
                    .extracting(Call::bytes)
                    .containsOnly((long) FaultyStore.LOG_SEGMENT_BYTES);
            store.awaitProvisioned();
            usable.set(FaultyStore.LOG_SEGMENT_BYTES + 100_000);
            OutOfSpaceException full = catchThrowableOfType(OutOfSpaceException.class, () -> {
                while (true) {
                    await(store.engine.append(2, bytes(3000, 1)));
                }
            });
            assertThat(full).hasMessageContaining("for it and the next checkpoint");
            store.engine.checkpoint();
            Eventually.await("they have moved", () -> rejection(store, 3000) == null);
        }
    }

    @Test
    void verifyIgnoresReadySegmentThatIsDeletedForItsSpace() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a");
            store.awaitProvisioned();
            List<String> before = store.files(LOG);
            FutureTask<VerifyReport> verify = new FutureTask<>(() -> store.engine.verify(VerifyReport.Progress.NONE));
            try (Hold open = store.faults.hold(on(Kind.OPEN, before.get(before.size() - 1)))) {
                new Thread(verify, "verify").start();
                open.awaitReached();
                store.faults.usable(() -> 0);
                store.engine.provisioner.wake();
                store.awaitProvisioned();
                assertThat(store.files(LOG)).hasSize(before.size() - 1);
            }
            assertThat(verify.get().faults()).isEmpty();
        }
    }

    /** Checks that the error does not blame the disk if the process cannot open more files. */
    @Test
    void doesNotReportFullDiskWhenOutOfFileHandles() {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            store.faults.fail(on(Kind.CREATE, ".*"), "Too many open files");
            Eventually.await("appends are rejected", () -> rejection(store, 3000) != null);
            assertThat(rejection(store, 3000))
                    .hasMessageContainingAll("Too many open files", "ulimit -n")
                    .hasMessageNotContaining("make space");
            store.faults.heal();
            Eventually.await("appends are accepted", () -> rejection(store, 3000) == null);
            store.closeAndVerify();
        }
    }

    @Test
    void checkpointIsRetriedAfterSpaceReturns() {
        StoreConfig config = FaultyStore.small()
                .checkpointFloorBytes(20_000)
                .checkpointFraction(0.001)
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            store.awaitProvisioned();
            store.faults.full(true);
            fill(store, 1, 2000);
            Eventually.await(
                    "a checkpoint has failed", () -> store.engine.stats().failures() >= 2);
            long published = store.engine.stats().checkpoints();
            assertThat(texts(store.engine, 1)).isNotEmpty();
            store.faults.full(false);
            Eventually.await(
                    "a checkpoint is published", () -> store.engine.stats().checkpoints() > published);
        }
    }

    /** Checks that a log without a free byte, which ends at the start of a missing segment, can be recycled. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void completelyFullLogIsRecycledWhenCheckpointFits(Durability level) {
        try (FaultyStore store =
                FaultyStore.open(amplyHeaped().durability(level).build())) {
            store.awaitProvisioned();
            store.faults.fail(on(Kind.CREATE, ".*"));
            Eventually.await("appends are rejected", () -> rejection(store, 3000) != null);
            assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> trimForever(store));
            store.faults.heal();
            store.faults.fail(on(Kind.CREATE, "(log|heap)-.*"));
            Eventually.await("appends are accepted", () -> rejection(store, 3000) == null);
        }
    }

    /** Checks that the store does not repeat checkpoints while none can start at a later LSN than the last one. */
    @Test
    void checkpointerRestsWhileFullLogCannotGrow() {
        try (FaultyStore store = FaultyStore.open(amplyHeaped().build())) {
            store.awaitProvisioned();
            store.faults.fail(on(Kind.CREATE, "(log|heap)-.*"));
            store.faults.fail(on(Kind.RENAME, "log-.*"));
            Eventually.await("appends are rejected", () -> rejection(store, 3000) != null);
            assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> trimForever(store));
            Eventually.await("no checkpoint is made while the provisioner tries fifty times", () -> {
                long before = store.engine.stats().checkpoints();
                int tries = triesToGrow(store);
                Eventually.await("it tries fifty times", () -> triesToGrow(store) >= tries + 50);
                return store.engine.stats().checkpoints() == before;
            });
            store.faults.heal();
            Eventually.await("appends are accepted", () -> rejection(store, 3000) == null);
            store.closeAndVerify();
        }
    }

    private static int triesToGrow(FaultyStore store) {
        return store.faults
                .calls(on(Kind.CREATE, "log-.*").or(on(Kind.RENAME, "log-.*")))
                .size();
    }

    /** Checks that the log grows while an unneeded segment can be neither recycled nor deleted, until it can be. */
    @Test
    void segmentThatCannotBeRemovedDoesNotStopLog() {
        try (FaultyStore store = FaultyStore.open(amplyHeaped().build())) {
            store.awaitProvisioned();
            String first = store.files(LOG).get(0);
            store.faults.fail(call -> call.file().equals(first)
                    && (call.kind() == Kind.RENAME || call.kind() == Kind.DELETE || call.kind() == Kind.CLOSE));
            for (int checkpoint = 1; checkpoint <= 5; checkpoint++) {
                store.appendMany(1, 20, 3000);
                store.engine.checkpoint();
            }
            store.awaitProvisioned();
            assertThat(store.files(LOG)).contains(first).hasSizeGreaterThan(20);
            assertThat(store.engine.stats().failures())
                    .as("one report of many attempts")
                    .isEqualTo(1);

            store.faults.heal();
            store.appendMany(1, 5, 3000);
            store.awaitProvisioned();
            assertThat(store.files(LOG)).doesNotContain(first).hasSizeLessThan(20);
            store.closeAndVerify();
        }
    }
    /** Checks that unneeded segments are removed, and that one failure is counted, if the free space is unknown. */
    @Test
    void unknownFreeSpaceIsOneFailure() {
        try (FaultyStore store = FaultyStore.open(amplyHeaped().build())) {
            store.appendMany(1, 20, 3000);
            awaitWrite(reported -> store.engine.trim(1, 20, reported));
            store.engine.checkpoint();
            store.awaitProvisioned();
            String first = store.files(LOG).get(0);
            store.faults.unmeasurable();
            store.engine.checkpoint();
            store.awaitProvisioned();
            assertThat(store.files(LOG)).doesNotContain(first);
            assertThat(store.engine.provisioner.isLogOutOfSpace()).isTrue();
            assertThat(store.engine.stats().failures()).isEqualTo(1);
        }
    }

    private static final class UnloggableProblem extends IOException {
        private static final long serialVersionUID = 1L;

        @Override
        public void printStackTrace(PrintStream log) {
            throw new FaultyStore.Unloggable();
        }
    }

    /** Checks that a failure that no logger can log does not keep the writes waiting that it concerns. */
    @Test
    void failureThatCannotBeLoggedReachesWaitingWrites() throws Exception {
        FaultStorage faults = new FaultStorage(new MemoryStorage());
        Recovered created = Recovery.open(
                faults, FaultyStore.small().build(), OptionalLong.empty(), OptionalLong.empty(), NewStore::newStoreId);
        Engine engine = new Engine(FaultyStore.small().build(), faults, created, System::nanoTime, Scheduler.THREADS);
        faults.fail(on(Kind.CREATE, "log-.*"), new UnloggableProblem());
        assertThatExceptionOfType(NotWritableException.class)
                .isThrownBy(() -> engine.state.locked(() -> engine.state.awaitRoom(false)));
        FaultyStore.whileLogging(
                Provisioner.class,
                () -> assertThatExceptionOfType(FaultyStore.Unloggable.class).isThrownBy(engine.provisioner::step));
        assertThat(engine.provisioner.isLogOutOfSpace()).isTrue();
        assertThat(engine.state.lacksSpace()).isFalse();
        created.close();
    }

    private static void trimForever(FaultyStore store) {
        while (true) {
            awaitWrite(reported -> store.engine.trim(1, 1, reported));
        }
    }

    /**
     * Checks that checkpoints recycle log segments if the disk has no space for new ones, even if the next regular
     * checkpoint is far away. An emptied store on a nearly full disk once rejected all further appends.
     */
    @Test
    void checkpointsRecycleLogSegmentsWhenLogCannotGrow() {
        try (FaultyStore store = FaultyStore.open(amplyHeaped().build())) {
            store.awaitProvisioned();
            int made = store.files(LOG).size();
            store.faults.fail(on(Kind.CREATE, "log-.*"));
            for (int i = 0; i < 20 * made; i++) {
                Eventually.await("an append is accepted", () -> rejection(store, 3000) == null);
                awaitWrite(reported -> store.engine.trim(1, 1, reported));
            }
            assertThat(store.files(LOG)).hasSize(made);
            store.closeAndVerify();
        }
    }
}
