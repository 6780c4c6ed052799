package io.caravan.engine;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.StoreStats;
import io.caravan.WriteBatch;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Tests the statistics after operations with known effects. */
@LongTimeout
class StatsTest {

    @Test
    void newStoreHasZeroStats() {
        try (FaultyStore store = FaultyStore.open()) {
            StoreStats stats = store.engine.stats();
            assertThat(stats.appends() + stats.trims() + stats.deletes() + stats.rejections() + stats.failures())
                    .isZero();
            assertThat(stats.fsyncs() + stats.logBytes() + stats.checkpoints()).isZero();
            assertThat(stats.flushRecords()).isEqualTo(StoreStats.Distribution.EMPTY);
            assertThat(stats.lists()).isZero();
            assertThat(stats.heap().usedBytes()).isZero();
        }
    }

    @Test
    void countsWritesToInternalListsSeparately() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 0, "catalog", "entries");
            append(store.engine, -3, "mark");
            append(store.engine, 1, "a", "b");
            awaitWrite(reported -> store.engine.trimTo(0, 1, reported));
            awaitWrite(reported -> store.engine.delete(-3, reported));

            StoreStats stats = store.engine.stats();
            assertThat(stats.appends()).isEqualTo(2);
            assertThat(stats.appendedBytes()).isEqualTo(2);
            assertThat(stats.trims() + stats.deletes()).isZero();
            assertThat(stats.internalWrites()).isEqualTo(5);
            assertThat(stats.values()).isEqualTo(2);
            assertThat(stats.lists()).isEqualTo(2);

            store.engine.flush();
            try (FaultyStore reopened = store.afterKill()) {
                assertThat(reopened.engine.stats().values()).isEqualTo(2);
                assertThat(reopened.engine.stats().internalWrites()).isZero();
            }
        }
    }

    @Test
    void statsMatchKnownSequenceOfOperations() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "aaaa");
            append(store.engine, 2, "bb");
            awaitWrite(reported -> store.engine.write(
                    WriteBatch.create()
                            .append(1, bytes("c"))
                            .append(3, bytes(""))
                            .trimTo(1, 1),
                    reported));
            awaitWrite(reported -> store.engine.delete(2, reported));
            assertThatThrownBy(() -> store.engine.append(1, bytes(5000, 0), NO_CALLBACK));
            assertThatThrownBy(() -> store.engine.write(WriteBatch.create().expect(1, 7), NO_CALLBACK));
            store.engine.flush();
            Eventually.await("all is counted", () -> store.engine.stats().fsyncs() == 5);
            Eventually.await(
                    "what was dropped is freed",
                    () -> store.engine.stats().heap().usedBytes()
                            == EntryLayout.entryBytes(1) + EntryLayout.entryBytes(0));

            StoreStats stats = store.engine.stats();
            assertThat(stats.appends()).isEqualTo(4);
            assertThat(stats.appendedBytes()).isEqualTo(7);
            assertThat(stats.internalWrites()).isZero();
            assertThat(stats.values())
                    .as("one list deleted, one of the others trimmed")
                    .isEqualTo(2);
            assertThat(stats.trims()).isEqualTo(1);
            assertThat(stats.deletes()).isEqualTo(1);
            assertThat(stats.rejections()).isEqualTo(2);
            assertThat(stats.failures()).isZero();
            assertThat(stats.fsyncs()).as("four writes and a flush").isEqualTo(5);
            assertThat(stats.logBytes()).isEqualTo(4L * Blocks.BLOCK_BYTES);
            assertThat(stats.flushRecords()).isEqualTo(new StoreStats.Distribution(4, 1.5, 1, 3, 3, 3, 3));
            assertThat(stats.fsyncNanos().count()).isEqualTo(4);
            assertThat(stats.lists()).isEqualTo(2);
            assertThat(stats.heap().totalBytes()).isEqualTo(FaultyStore.HEAP_SEGMENT_BYTES);
            assertThat(stats.heap().freeBytes())
                    .as("what is used is in the log")
                    .isEqualTo(FaultyStore.HEAP_SEGMENT_BYTES - Blocks.BLOCK_BYTES);
            assertThat(stats.logBytesSinceCheckpoint())
                    .as("four blocks of frames, and the header of the second segment")
                    .isEqualTo(5L * Blocks.BLOCK_BYTES);
            assertThat(stats.checkpoints()).isZero();

            store.engine.checkpoint();
            assertThat(store.engine.stats().checkpoints()).isEqualTo(1);
            assertThat(store.engine.stats().logBytesSinceCheckpoint()).isZero();
            StoreStats.HeapUse heap = store.engine.stats().heap();
            assertThat(heap.usedBytes()).as("has moved").isEqualTo(stats.heap().usedBytes());
            assertThat(heap.freeBytes())
                    .isEqualTo(stats.heap().freeBytes() - stats.heap().usedBytes());
        }
    }

    @Test
    void measuresDurationsWithInjectedClock() {
        AtomicLong ticks = new AtomicLong();
        try (FaultyStore store =
                FaultyStore.open(FaultyStore.small().build(), new MemoryStorage(), () -> ticks.addAndGet(1_000))) {
            append(store.engine, 1, "a");
            store.engine.flush();
            // Counted after the acknowledgment, so as not to delay it.
            Eventually.await(
                    "both flushes are counted",
                    () -> store.engine.stats().ackNanos().count() == 2);
            StoreStats stats = store.engine.stats();
            assertThat(stats.fsyncNanos().max())
                    .as("at least two looks at the clock")
                    .isBetween(1_000L, 100_000L);
            assertThat(stats.ackNanos().max()).isBetween(2_000L, 100_000L);
            store.engine.checkpoint();
            assertThat(store.engine.stats().lastCheckpointNanos()).isPositive();
        }
    }

    /** Checks the reported lock times, using a clock that advances by one microsecond whenever it is read. */
    @Test
    void lockTimesEverySliceAndSamplesOtherHolds() {
        AtomicLong ticks = new AtomicLong();
        StoreLock lock = new StoreLock(new ReentrantLock(), () -> ticks.addAndGet(1_000));
        for (int i = 0; i < 10 * StoreLock.SAMPLED; i++) {
            lock.lock();
            lock.unlock();
        }
        lock.lock();
        assertThat(lock.heldNanos())
                .isEqualTo(new StoreStats.Distribution(10, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000));
        lock.unlock();
        lock.lockForSlice();
        ticks.addAndGet(49_000);
        lock.unlock();
        assertThat(lock.heldNanos().count()).isEqualTo(11);
        assertThat(lock.heldNanos().max()).isEqualTo(50_000);
    }

    @Test
    void lockHoldTimeExcludesWaits() {
        AtomicLong ticks = new AtomicLong();
        StoreLock lock = new StoreLock(new ReentrantLock(), () -> ticks.addAndGet(1_000));
        lock.lockForSlice();
        lock.beforeWait();
        ticks.addAndGet(1_000_000);
        lock.unlock();
        assertThat(lock.heldNanos()).isEqualTo(StoreStats.Distribution.EMPTY);
    }

    @Test
    void statsIncludeLockHoldsOfCheckpoint() {
        try (FaultyStore store = FaultyStore.open()) {
            int lists = 5_000;
            for (int id = 0; id < lists; id++) {
                store.engine.append(id, bytes("a"), NO_CALLBACK);
            }
            long before = store.engine.stats().lockNanos().count();
            store.engine.checkpoint();
            // At most 512 lists are pinned, gathered, and unpinned at a time.
            assertThat(store.engine.stats().lockNanos().count() - before).isGreaterThanOrEqualTo(3 * lists / 512);
        }
    }
}
