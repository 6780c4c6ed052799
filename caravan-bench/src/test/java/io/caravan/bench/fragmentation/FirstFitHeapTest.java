package io.caravan.bench.fragmentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.heap.Heap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The baseline really uses the first hole by address that is large enough, and merges adjacent holes. */
class FirstFitHeapTest {
    private static final int SPACE_BYTES = 1 << 16;

    private final FirstFitHeap heap = new FirstFitHeap();

    @BeforeEach
    void addSpace() {
        heap.addSpace(0, SPACE_BYTES);
    }

    private TreeMap<Long, Long> holes() {
        TreeMap<Long, Long> holes = new TreeMap<>();
        heap.forEachHole(holes::put);
        return holes;
    }

    @Test
    void takesTheFirstHoleThatIsLargeEnough() {
        long small = heap.allocate(16);
        heap.allocate(8);
        long large = heap.allocate(64);
        heap.allocate(8);
        heap.free(small, 16);
        heap.free(large, 64);
        assertThat(heap.allocate(24)).isEqualTo(large);
        assertThat(heap.allocate(16)).isEqualTo(small);
        assertThat(heap.allocate(40)).isEqualTo(large + 24);
    }

    @Test
    void aFreedRegionJoinsTheHolesOnBothSides() {
        long first = heap.allocate(16);
        long second = heap.allocate(16);
        long third = heap.allocate(16);
        heap.allocate(8);
        heap.free(first, 16);
        heap.free(third, 16);
        assertThat(holes()).containsEntry(first, 16L).containsEntry(third, 16L).hasSize(3);
        heap.free(second, 16);
        assertThat(holes()).containsEntry(first, 48L).hasSize(2);
    }

    @Test
    void refusesWhatNoHoleHolds() {
        assertThat(heap.allocate(SPACE_BYTES + 8)).isEqualTo(Heap.NONE);
        assertThat(heap.allocate(SPACE_BYTES)).isZero();
        assertThat(heap.allocate(8)).isEqualTo(Heap.NONE);
        assertThat(heap.largestHoleBytes()).isZero();
    }

    @Test
    void removesSpaceOnlyWhenAllOfItIsFree() {
        heap.addSpace(2L * SPACE_BYTES, 64);
        assertThat(heap.removeSpace(2L * SPACE_BYTES, 128)).isFalse();
        assertThat(heap.removeSpace(2L * SPACE_BYTES, 64)).isTrue();
        assertThat(heap.freeBytes()).isEqualTo(SPACE_BYTES);
        heap.allocate(8);
        assertThat(heap.removeSpace(0, SPACE_BYTES)).isFalse();
    }

    @Test
    void neverGivesOutWhatIsInUseAndLosesNothing() {
        SplittableRandom random = new SplittableRandom(1);
        TreeMap<Long, Integer> used = new TreeMap<>();
        long usedBytes = 0;
        for (int i = 0; i < 5_000; i++) {
            int bytes = 8 * random.nextInt(1, 60);
            long address = random.nextInt(100) < 55 ? heap.allocate(bytes) : Heap.NONE;
            if (address != Heap.NONE) {
                assertThat(used.floorKey(address + bytes - 1))
                        .satisfiesAnyOf(
                                before -> assertThat(before).isNull(),
                                before -> assertThat(before + used.get(before)).isLessThanOrEqualTo(address));
                used.put(address, bytes);
                usedBytes += bytes;
            } else if (!used.isEmpty()) {
                Long chosen = used.ceilingKey((long) random.nextInt(SPACE_BYTES));
                long freed = chosen == null ? used.firstKey() : chosen;
                int freedBytes = used.remove(freed);
                heap.free(freed, freedBytes);
                usedBytes -= freedBytes;
            }
            assertThat(heap.usedBytes()).isEqualTo(usedBytes);
        }
        used.forEach(heap::free);
        assertThat(holes()).hasSize(1).containsEntry(0L, (long) SPACE_BYTES);
    }
}
