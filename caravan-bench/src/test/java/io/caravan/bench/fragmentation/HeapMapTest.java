package io.caravan.bench.fragmentation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The map of slices that are full, empty, or mixed. */
class HeapMapTest {

    @Test
    void holesLowerTheSharesOfTheSlicesTheyLieIn() {
        FirstFitHeap heap = new FirstFitHeap();
        int slice = HeapMap.SLICE_BYTES;
        heap.addSpace(0, 10L * slice);
        heap.allocate(slice);
        long hole = heap.allocate(slice + slice / 2);
        heap.allocate(slice);
        heap.free(hole, slice + slice / 2);
        assertThat(HeapMap.of(heap, 3L * slice + slice / 2).shares()).containsExactly(1, 0, 0.5, 0.5);
    }
}
