package io.caravan.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.heap.FreeSpace;
import io.caravan.heap.HeapFile;
import io.caravan.heap.IndexedHeap;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads a checkpoint file again, as opening does if the used regions of the heap take too much memory. */
class HeapRegionsTest {

    @Test
    void furtherPassOverCheckpointFindsSameFreeSpace(@TempDir Path directory) throws IOException {
        MemoryStorage storage = new MemoryStorage(SmallStore.build(directory).open());
        try (Recovered recovered = new Recovery(storage).recover();
                CheckpointReader reader =
                        new CheckpointReader(storage, recovered.newest().number())) {
            HeapFile heapFile = recovered.heapFile();
            FreeSpace freeSpace = new FreeSpace(heapFile.geometry(), heapFile.segmentCount(), 1, heapFile::path);
            reader.read(new IndexReplay(reader, freeSpace::add));
            IndexedHeap heap = new IndexedHeap();
            AtomicInteger passes = new AtomicInteger();
            freeSpace.rebuild(heap, action -> {
                passes.incrementAndGet();
                reader.read(new Recovery.HeapRegions(action));
            });
            assertThat(passes).hasValue(heapFile.segmentCount() - 1).hasPositiveValue();
            assertThat(holes(heap)).isEqualTo(holes(recovered.heap()));
            assertThat(heap.usedBytes()).isEqualTo(recovered.heap().usedBytes()).isPositive();
        }
    }

    private static NavigableMap<Long, Long> holes(IndexedHeap heap) {
        NavigableMap<Long, Long> holes = new TreeMap<>();
        long position = 0;
        do {
            position = heap.visitHoles(position, holes::put);
        } while (position != 0);
        return holes;
    }
}
