package io.caravan.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.StoreLayout;
import io.caravan.StoreLayout.HeapSegment;
import io.caravan.StoreStats.Distribution;
import io.caravan.collections.SlotTable;
import io.caravan.format.Region;
import io.caravan.heap.IndexedHeap;
import io.caravan.testing.MemoryStorage;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests the reported layout of a store on disk, and the recent statistics of the store. */
class LayoutTest {
    private static final int VALUE_BYTES = 1_000;

    @Test
    void valuesStayInLogUntilCheckpointMovesThem() throws Exception {
        try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime)) {
            store.engine.append(1, new byte[VALUE_BYTES]).join();
            // A write is acknowledged before the log counts it.
            store.awaitIdleFlusher();
            StoreLayout young = store.engine.layout();
            assertThat(young.log().survivorBytes()).isGreaterThan(VALUE_BYTES);
            assertThat(young.log().replayBytes()).isPositive();
            assertThat(young.log().checkpointAtBytes()).isGreaterThan(0);
            assertThat(young.heap()).hasSize(1);
            assertThat(young.heap().get(0).usedBytes()).isZero();

            store.engine.checkpoint();
            StoreLayout moved = store.engine.layout();
            assertThat(moved.log().survivorBytes()).isZero();
            assertThat(moved.log().replayBytes()).isZero();
            HeapSegment segment = moved.heap().get(0);
            assertThat(segment.usedBytes()).isEqualTo(young.log().survivorBytes());
            assertThat(segment.holes()).isEqualTo(1);
            assertThat(segment.largestHoleBytes()).isEqualTo(segment.freeBytes());
            assertThat(segment.pinnedBytes()).isZero();
            assertThat(moved.log().lastSegment()).isGreaterThan(moved.log().currentSegment());
        }
    }

    /** Checks that checkpoints keep the log within {@code Region.MAX_LOG_BYTES}, the limit on positions in regions. */
    @Test
    void checkpointThresholdIsBoundedForAnyFloor() throws Exception {
        try (FaultyStore store = FaultyStore.open(
                FaultyStore.small().checkpointFloorBytes(Long.MAX_VALUE).build(),
                new MemoryStorage(),
                System::nanoTime)) {
            assertThat(store.engine.layout().log().checkpointAtBytes()).isEqualTo(Region.MAX_LOG_BYTES / 2);
        }
    }

    @Test
    void reportsPinnedBytesDuringRead() throws Exception {
        try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime)) {
            store.engine.append(1, new byte[VALUE_BYTES]).join();
            store.engine.append(2, new byte[VALUE_BYTES]).join();
            store.engine.checkpoint();
            AtomicReference<StoreLayout> during = new AtomicReference<>();
            store.engine.get(1, (sequence, value) -> {
                during.set(store.engine.layout());
                return true;
            });
            HeapSegment segment = during.get().heap().get(0);
            assertThat(segment.pinnedBytes())
                    .as("one of two entries of the same size")
                    .isEqualTo(segment.usedBytes() / 2);
            assertThat(during.get().pinsComplete()).isTrue();
            assertThat(store.engine.layout().heap().get(0).pinnedBytes()).isZero();
            assertThat(store.engine.stats().pinnedReaders()).isZero();
        }
    }

    @Test
    void holesAreVisitedInSmallSteps() {
        int count = 10_000;
        IndexedHeap heap = new IndexedHeap();
        heap.addSpace(0, count * 64);
        long[] places =
                LongStream.range(0, 2 * count).map(i -> heap.allocate(32)).toArray();
        for (int i = 0; i < places.length; i += 2) {
            heap.free(places[i], 32);
        }
        Set<Long> seen = new HashSet<>();
        long position = 0;
        do {
            int before = seen.size();
            position = heap.visitHoles(position, (address, bytes) -> {
                assertThat(bytes).isEqualTo(32);
                assertThat(seen.add(address)).as("seen once").isTrue();
            });
            assertThat(seen.size() - before).isLessThanOrEqualTo(SlotTable.MAX_STEP_SLOTS + 1);
        } while (position != 0);
        assertThat(seen).hasSize(count);
    }

    @Test
    void recentHistogramDiscardsOldValues() {
        Histogram.Recent recent = new Histogram.Recent(0);
        recent.record(7, 1);
        recent.record(9, Histogram.Recent.WINDOW_NANOS);
        Distribution both = recent.read(Histogram.Recent.WINDOW_NANOS + 1);
        assertThat(both.count()).isEqualTo(2);
        assertThat(both.max()).isEqualTo(9);
        assertThat(recent.read(2 * Histogram.Recent.WINDOW_NANOS).count()).isEqualTo(1);
        assertThat(recent.read(4 * Histogram.Recent.WINDOW_NANOS)).isEqualTo(Distribution.EMPTY);
    }
}
