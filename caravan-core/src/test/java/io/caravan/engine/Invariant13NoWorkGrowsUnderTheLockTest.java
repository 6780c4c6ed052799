package io.caravan.engine;

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
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.StoreConfig;
import io.caravan.StoreIoException;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.collections.LongQueue;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins;
import io.caravan.testing.CheckpointDump;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Invariant 13: no work on the write path, under the lock, or at log rotation grows with the amount of data. The tests
 * check the structure instead of the time: how many regions one hold of the lock frees, and which calls succeed during
 * a checkpoint.
 */
@LongTimeout
class Invariant13NoWorkGrowsUnderTheLockTest {
    private static final int MILLION = 1_000_000;
    private static final int SLICE = 256;

    /** The parts of a store that reclaim entries, without threads; the test itself marks the log as fsynced. */
    private static final class Space {
        final StoreState state;
        final HeapSpace space;
        /** The LSN that is used for all changes: the first position that has not been fsynced. */
        final long lsn;

        Space() throws IOException {
            state = FaultyStore.stateOf(
                    FaultyStore.small().heapSegmentBytes(1 << 26).build(), () -> 0, () -> {});
            space = new HeapSpace(state, new PendingFrees());
            lsn = state.forced.position();
            HeapGeometry geometry = state.heapFile.geometry();
            state.heap.addSpace(geometry.firstAddress(0), geometry.usableBytes());
        }

        void force() {
            state.forced.advance(lsn + 1);
        }

        int listOf(long id, int entries) {
            int list = state.index.create(id, 1, 0);
            for (int i = 0; i < entries; i++) {
                state.index.append(list, Region.pack(state.heap.allocate(16), 8), 1);
            }
            return list;
        }

        boolean reclaimSlice() {
            return state.locked(() -> space.reclaimSlice());
        }

        /** Reclaims a list's entries in slices, checks the size of each slice, and returns the number of slices. */
        int reclaimAll(int list) {
            int slices = 0;
            long firstStored = state.index.firstStored(list);
            while (reclaimSlice()) {
                slices++;
                assertThat(state.index.firstStored(list) - firstStored).isLessThanOrEqualTo(SLICE);
                firstStored = state.index.firstStored(list);
            }
            return slices;
        }
    }

    @Test
    void largeTrimIsFreedInSlices() throws Exception {
        Space space = new Space();
        int list = space.listOf(1, MILLION);
        space.state.index.trimTo(list, MILLION, 2);
        space.space.reclaimLater(list, MILLION, space.lsn);
        assertThat(space.state.index.first(list)).as("gone at once").isEqualTo(MILLION);
        assertThat(space.state.index.firstStored(list))
                .as("but nothing is freed yet")
                .isZero();
        assertThat(space.reclaimSlice()).as("the trim is not forced").isFalse();

        space.force();
        assertThat(space.reclaimAll(list)).isGreaterThanOrEqualTo(MILLION / SLICE);
        assertThat(space.space.usedBytes()).isZero();
    }

    @Test
    void deletedHugeListIsFreedInSlices() throws Exception {
        Space space = new Space();
        int list = space.listOf(1, MILLION);
        space.state.index.remove(list, 2);
        space.space.reclaimLater(list, MILLION, space.lsn);
        assertThat(space.state.index.find(1)).as("gone at once").isEqualTo(ListIndex.NONE);
        space.force();
        assertThat(space.reclaimAll(list)).isGreaterThanOrEqualTo(MILLION / SLICE);
        assertThat(space.space.usedBytes()).isZero();
    }

    private static Space halfOfManyListsRemoved() throws IOException {
        Space space = new Space();
        for (int id = 0; id < 10_000; id++) {
            int list = space.listOf(id, 1);
            if (id % 2 == 0) {
                space.state.index.remove(list, 2);
                space.space.reclaimLater(list, 1, space.lsn);
            }
        }
        space.force();
        return space;
    }

    @Test
    void manySmallDeletedListsAreFreedInSlices() throws Exception {
        Space space = halfOfManyListsRemoved();
        long used = space.space.usedBytes();
        while (space.reclaimSlice()) {
            assertThat(used - space.space.usedBytes()).isBetween(0L, SLICE * 16L);
            used = space.space.usedBytes();
        }
        assertThat(used).isEqualTo(5_000 * 16);
    }

    @Test
    void regionsReleasedByCheckpointAreFreedInSlices() throws Exception {
        Space space = halfOfManyListsRemoved();
        while (space.reclaimSlice()) {
            assertThat(space.state.heap.usedBytes()).as("not yet").isEqualTo(10_000 * 16);
        }
        assertThat(space.space.reuseSlice()).as("no checkpoint knows them").isFalse();
        space.space.indexFrozen();
        for (int slice = 1; space.space.reuseSlice(); slice++) {
            assertThat(space.state.heap.usedBytes()).isEqualTo((10_000 - slice * SLICE) * 16);
        }
        assertThat(space.state.heap.usedBytes()).isEqualTo(5_000 * 16);
    }

    @Test
    void emptyTrailingSegmentsAreReleasedInSlices() throws Exception {
        HeapSpace space = new Space().space;
        for (int i = 0; i < 1_000; i++) {
            space.addSegment(true);
        }
        int slices = 0;
        boolean more = true;
        while (more) {
            int before = space.segments();
            more = space.releaseTrailingSlice();
            assertThat(before - space.segments()).isLessThanOrEqualTo(SLICE);
            slices++;
        }
        assertThat(slices).isEqualTo(1_000 / SLICE + 1);
        assertThat(space.segments()).isLessThanOrEqualTo(2);
    }

    /**
     * Checks that gathering the entries of a batch, and freeing their places after a failure, each take many slices.
     * The lock counts the slices, because it measures how long each one holds it.
     */
    @Test
    void placesOfFailedBatchAreFreedInSlices() {
        // Time stands still, so the checkpoint is not retried.
        StoreConfig config = FaultyStore.small().heapSegmentBytes(1 << 24).build();
        try (FaultyStore store = FaultyStore.open(config, new MemoryStorage(), () -> 0)) {
            int entries = 16_000;
            int slices = entries / (2 * SLICE);
            appendMany(store, 1, entries);
            // The first write to this position allocates disk space, and the second one writes entries.
            long firstEntry = store.engine.state.heapFile.geometry().firstAddress(0);
            store.faults.fail(nth(2, on(Kind.WRITE, FaultyStore.HEAP).and(call -> call.position() == firstEntry)));
            long before = store.engine.stats().lockNanos().count();
            assertThat(catchThrowable(store.engine::checkpoint)).isInstanceOf(StoreIoException.class);
            assertThat(store.engine.stats().lockNanos().count() - before).isGreaterThanOrEqualTo(2 * slices);
        }
    }

    /** Opens a store with segments that are large enough for huge lists. */
    private static FaultyStore ample() {
        return FaultyStore.open(StoreConfig.builder(Path.of("memory"))
                .maxValueBytes(4096)
                .heapSegmentBytes(1 << 24)
                .build());
    }

    private static void appendMany(FaultyStore store, long id, int count) {
        for (int i = 0; i < count; i++) {
            store.engine.append(id, new byte[8], NO_CALLBACK);
        }
        store.engine.flush();
    }

    @Test
    void hugeListIsDeletedAtOnceAndFreedEventually() {
        try (FaultyStore store = ample()) {
            appendMany(store, 1, 100_000);
            awaitWrite(reported -> store.engine.delete(1, reported));
            assertThat(store.engine.info(1)).isNull();
            assertThat(append(store.engine, 1, "a new life")).isEqualTo(0);
            Eventually.await("all is freed", () -> store.engine.stats().heap().usedBytes() < 100);
            assertThat(texts(store.engine, 1)).containsExactly("0:a new life");
        }
    }

    /** Checks that the lock is free, so that writes and reads continue, while a checkpoint file is being written. */
    @Test
    void writesAndReadsContinueDuringCheckpointWrite() throws Exception {
        try (FaultyStore store = ample()) {
            appendMany(store, 7, 60_000);
            for (int pausedWrite : new int[] {1, 3, 6}) {
                int before = texts(store.engine, 8).size();
                store.duringCheckpoint(nth(pausedWrite, on(Kind.WRITE, UNFINISHED_CHECKPOINT)), () -> {
                    assertThat(append(store.engine, 8, "goes on")).isEqualTo(before);
                    assertThat(texts(store.engine, 8)).hasSize(before + 1);
                    assertThat(awaitWrite(reported -> store.engine.trim(7, 10, reported)))
                            .isPositive();
                });
            }
            store.closeAndVerify();
        }
    }

    /** Checks that the lists that a checkpoint writes late do not contain values appended since it began. */
    @Test
    void checkpointContainsIndexAtOneLsn() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a");
            store.duringCheckpoint(nth(2, on(Kind.WRITE, UNFINISHED_CHECKPOINT)), () -> {
                append(store.engine, 2, "between two partitions");
            });
            try (CheckpointReader reader = new CheckpointReader(store.disk, 1)) {
                CheckpointDump dump = CheckpointDump.of(reader);
                long lsn = reader.header().endLsn();
                assertThat(dump.captures()).hasSize(ListIndex.PARTITIONS).containsOnly(lsn);
                assertThat(reader.header().lists()).isEqualTo(1);
            }
            assertThat(store.textsAfterPowerCut(2)).containsExactly("0:between two partitions");
        }
    }

    /**
     * Checks that a list trimmed during a checkpoint is written unchanged, although it is neither copied under the lock
     * nor pinned.
     */
    @Test
    void hugeListTrimmedDuringCheckpointIsWrittenUnchanged() throws Exception {
        try (FaultyStore store = ample()) {
            int count = 80_000;
            appendMany(store, 7, count);
            // The first section of the list is full and written long before its last region is copied.
            Predicate<Call> fullSection = on(Kind.WRITE, UNFINISHED_CHECKPOINT).and(call -> call.bytes() >= 1 << 16);
            store.duringCheckpoint(nth(1, fullSection), () -> {
                awaitWrite(reported -> store.engine.trim(7, count, reported));
                await(store.engine.append(7, bytes("behind")));
                store.awaitIdleFlusher();
                assertThat(store.engine.layout().heap()).allMatch(segment -> segment.pinnedBytes() == 0);
            });
            try (CheckpointReader reader = new CheckpointReader(store.disk, 1)) {
                assertThat(CheckpointDump.of(reader).regions()).hasSize(count).doesNotHaveDuplicates();
            }
            assertThat(store.textsAfterPowerCut(7)).containsExactly(count + ":behind");
        }
    }

    /** Checks that a partition is written unchanged if many of its lists change while the first are being written. */
    @Test
    void partitionChangedDuringCheckpointIsWrittenUnchanged() throws Exception {
        long[] ids = LongStream.range(0, Long.MAX_VALUE)
                .filter(id -> ListIndex.partitionOf(id) == 0)
                .limit(3_000)
                .toArray();
        try (FaultyStore store = FaultyStore.open()) {
            for (long id : ids) {
                store.engine.append(id, new byte[8], NO_CALLBACK);
                store.engine.append(id, new byte[8], NO_CALLBACK);
            }
            store.engine.flush();
            Predicate<Call> fullSection = on(Kind.WRITE, UNFINISHED_CHECKPOINT).and(call -> call.bytes() >= 1 << 16);
            store.duringCheckpoint(nth(1, fullSection), () -> {
                for (int i = 0; i < ids.length; i += 3) {
                    store.engine.append(ids[i], bytes("changed"), NO_CALLBACK);
                    store.engine.trim(ids[i + 1], 1, NO_CALLBACK);
                    store.engine.delete(ids[i + 2], NO_CALLBACK);
                    store.engine.append(ids[i + 2], bytes("new"), NO_CALLBACK);
                }
                store.engine.flush();
                // This survey covers the pins of at most 256 lists.
                assertThat(store.engine.layout().pinsComplete()).isTrue();
            });
            try (CheckpointReader reader = new CheckpointReader(store.disk, 1)) {
                assertThat(CheckpointDump.of(reader).regions()).as("as it was").hasSize(2 * ids.length);
            }
            try (FaultyStore cut = store.afterPowerCut()) {
                for (int i = 0; i < ids.length; i += 3) {
                    assertThat(texts(cut.engine, ids[i])).hasSize(3).last().isEqualTo("2:changed");
                    assertThat(texts(cut.engine, ids[i + 1])).hasSize(1);
                    assertThat(texts(cut.engine, ids[i + 2])).containsExactly("0:new");
                }
                cut.closeAndVerify();
            }
        }
    }

    /** Checks that a seek in a long list releases the lock several times; the lock counts all holds after the first. */
    @Test
    void seekInLongListReleasesLockAfterFewChunks() throws Exception {
        StoreState state = new Space().state;
        int entries = 2_500_000;
        int list = state.index.create(1, 1, 0);
        for (int i = 0; i < entries; i++) {
            state.index.append(list, Region.pack(8L * i, 8), 1);
        }
        int target = entries * 9 / 10;
        ListCursor stepwise = new ListCursor();
        int waysOut = 0;
        while (!state.index.seek(list, target, stepwise, SLICE)) {
            waysOut++;
        }
        assertThat(waysOut).isGreaterThan(1);
        long[] found = new long[1];
        state.copyRegions(list, target, new ListCursor(), found, 1);
        assertThat(found).containsExactly(Region.pack(8L * target, 8));
        assertThat(state.locked(() -> state.lock.heldNanos()).count()).isEqualTo(waysOut);
    }

    /** Checks that a walk through the pins takes bounded steps and visits each list once, even if pins come and go. */
    @Test
    void pinsAreVisitedInSlices() {
        ListIndex index = new ListIndex();
        for (int id = 0; id < 5_000; id++) {
            int list = index.create(id, 1, 0);
            index.append(list, Region.pack(8L * id, 8), 1);
            index.pin(list, 0);
            index.pin(list, 0);
        }
        Set<Integer> seen = new HashSet<>();
        int next = 0;
        int steps = 0;
        do {
            int before = seen.size();
            next = index.visitPinned(next, SLICE, list -> {
                assertThat(seen.add(list)).isTrue();
                index.pin(list, 0);
            });
            assertThat(seen.size() - before).isLessThanOrEqualTo(SLICE);
            steps++;
        } while (next != ListIndex.NONE);
        assertThat(seen).hasSize(5_000);
        assertThat(steps).isEqualTo(5_000 / SLICE + 1);
    }

    @Test
    void tracksWhetherReclaimAwaitsPins() {
        ListIndex index = new ListIndex();
        int list = index.create(7, 1, 0);
        for (int i = 0; i < 3; i++) {
            index.append(list, Region.pack(8L * i, 8), 1);
        }
        Pins.Pin first = index.pin(list, 0);
        Pins.Pin second = index.pin(list, 1);
        assertThat(index.awaitsPins()).isFalse();
        index.trimTo(list, 3, 2);
        index.reclaim(list, 3, SLICE, region -> {});
        index.reclaim(list, 3, SLICE, region -> {});
        assertThat(index.awaitsPins()).isTrue();
        assertThat(index.unpin(first)).isTrue();
        assertThat(index.awaitsPins()).isFalse();
        index.reclaim(list, 3, SLICE, region -> {});
        assertThat(index.awaitsPins()).isTrue();
        assertThat(index.unpin(second)).isTrue();
        assertThat(index.awaitsPins()).isFalse();
    }

    /** Checks that a writer that waits for space is woken when space is available, and not by every read that ends. */
    @Test
    void endOfReadWakesNoWriter() throws Exception {
        AtomicInteger waits = new AtomicInteger();
        CountDownLatch waiting = new CountDownLatch(1);
        Scheduler threads = new WatchedScheduler() {
            @Override
            public void await(Condition changed) {
                waits.incrementAndGet();
                waiting.countDown();
                super.await(changed);
            }
        };
        FaultStorage faults = new FaultStorage(new MemoryStorage());
        try (Engine engine = Engine.open(FaultyStore.small().build(), faults, System::nanoTime, threads)) {
            append(engine, 1, "to be read");
            Thread writer = new Thread(
                    () -> {
                        for (int i = 0; i < 10; i++) {
                            engine.append(2, new byte[4_000], NO_CALLBACK);
                        }
                    },
                    "writer");
            try (Hold write = faults.hold(on(Kind.WRITE, FaultyStore.LOG))) {
                writer.start();
                waiting.await();
                // Each wake-up takes the writer some time, so only many reads show that none of them wakes it.
                for (int i = 0; i < 50_000 && waits.get() < 50; i++) {
                    engine.info(1);
                }
                assertThat(waits.get()).isLessThan(50);
            }
            writer.join();
        }
    }

    @Test
    void growingQueueKeepsItsOrder() {
        LongQueue queue = new LongQueue();
        for (int i = 0; i < 100_000; i++) {
            addThree(queue, i);
        }
        for (int i = 0; i < 100_000; i++) {
            assertThat(queue.isEmpty()).isFalse();
            assertThat(new long[] {queue.first(0), queue.first(1), queue.first(2)})
                    .containsExactly(i, i + 1L, i + 2L);
            queue.remove(3);
            if (i % 3 == 0) {
                addThree(queue, -i);
            }
        }
        for (int i = 0; i < 100_000; i += 3) {
            assertThat(queue.first(0)).isEqualTo(-i);
            queue.remove(3);
        }
        assertThat(queue.isEmpty()).isTrue();
        addThree(queue, 1);
        assertThat(queue.first(2)).isEqualTo(3);
    }

    private static void addThree(LongQueue queue, long value) {
        queue.add(value);
        queue.add(value + 1);
        queue.add(value + 2);
    }
}
