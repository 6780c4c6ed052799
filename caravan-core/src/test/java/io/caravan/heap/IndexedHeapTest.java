package io.caravan.heap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.Region;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the heap with a plain map of holes, and tests {@link FreeSpace}, which rebuilds the heap. */
class IndexedHeapTest {
    private static final int SPACE_BYTES = 1 << 16;
    private static final int OPERATIONS = 3_000;

    /** A model of the heap: holes and used regions as maps from start to size, joined in the simplest way. */
    private static final class Model {
        final NavigableMap<Long, Long> holes = new TreeMap<>();
        final NavigableMap<Long, Long> used = new TreeMap<>();

        void take(long address, long bytes) {
            Map.Entry<Long, Long> hole = holes.floorEntry(address);
            assertThat(hole).as("a hole around " + address).isNotNull();
            long holeEnd = hole.getKey() + hole.getValue();
            assertThat(address + bytes).as("the region's end").isLessThanOrEqualTo(holeEnd);
            holes.remove(hole.getKey());
            addHole(hole.getKey(), address - hole.getKey());
            addHole(address + bytes, holeEnd - address - bytes);
            used.put(address, bytes);
        }

        private void addHole(long address, long bytes) {
            if (bytes > 0) {
                holes.put(address, bytes);
            }
        }

        void free(long address) {
            long start = address;
            long bytes = used.remove(address);
            Map.Entry<Long, Long> before = holes.lowerEntry(start);
            if (before != null && before.getKey() + before.getValue() == start) {
                holes.remove(before.getKey());
                start = before.getKey();
                bytes += before.getValue();
            }
            Long after = holes.remove(start + bytes);
            holes.put(start, bytes + (after == null ? 0 : after));
        }

        long largestHole() {
            return holes.values().stream().mapToLong(Long::longValue).max().orElse(0);
        }

        long smallestFit(long bytes) {
            return holes.values().stream()
                    .mapToLong(Long::longValue)
                    .filter(size -> size >= bytes)
                    .min()
                    .orElse(0);
        }

        long freeBytes() {
            return holes.values().stream().mapToLong(Long::longValue).sum();
        }

        long usedBytes() {
            return used.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    private static void forEachHole(IndexedHeap heap, IndexedHeap.HoleVisitor visitor) {
        long position = 0;
        do {
            position = heap.visitHoles(position, visitor);
        } while (position != 0);
    }

    private static void assertSame(IndexedHeap heap, Model model) {
        NavigableMap<Long, Long> holes = new TreeMap<>();
        forEachHole(
                heap, (address, bytes) -> assertThat(holes.put(address, bytes)).isNull());
        assertThat(holes).isEqualTo(model.holes);
        assertThat(heap.freeBytes()).isEqualTo(model.freeBytes());
        assertThat(heap.usedBytes()).isEqualTo(model.usedBytes());
        assertThat(heap.largestHoleBytes()).isEqualTo(model.largestHole());
    }

    @Test
    void matchesModelUnderRandomAllocationsAndFrees() {
        Seeds.forEach(20, seed -> {
            Random random = new Random(seed);
            IndexedHeap heap = new IndexedHeap();
            Model model = new Model();
            List<Long> spaces = new ArrayList<>();
            for (int i = 0; i < OPERATIONS; i++) {
                int choice = random.nextInt(100);
                if (choice < 2 && spaces.size() < 6) {
                    addSpace(heap, model, spaces);
                } else if (choice < 3 && !spaces.isEmpty()) {
                    removeSpace(heap, model, spaces);
                } else if (choice < 55 + 30 * (i / 500 % 2) - 15) {
                    allocate(heap, model, bytes(random));
                } else if (!model.used.isEmpty()) {
                    freeOne(heap, model, random);
                }
                if (i % 50 == 0) {
                    assertSame(heap, model);
                }
            }
            for (long address : List.copyOf(model.used.keySet())) {
                heap.free(address, (int) (long) model.used.get(address));
                model.free(address);
            }
            assertSame(heap, model);
            assertThat(heap.usedBytes()).isZero();
        });
    }

    private static int bytes(Random random) {
        int units = 1 + (random.nextInt(4) == 0 ? random.nextInt(2_000) : random.nextInt(12));
        return 8 * units;
    }

    /** Adds address space that, like a heap segment's, is not adjacent to any other, so that holes do not merge. */
    private static void addSpace(IndexedHeap heap, Model model, List<Long> spaces) {
        long address = Blocks.BLOCK_BYTES + (long) spaces.size() * (SPACE_BYTES + Blocks.BLOCK_BYTES);
        heap.addSpace(address, SPACE_BYTES);
        model.holes.put(address, (long) SPACE_BYTES);
        spaces.add(address);
    }

    private static void removeSpace(IndexedHeap heap, Model model, List<Long> spaces) {
        long last = spaces.get(spaces.size() - 1);
        boolean fullyFree = Long.valueOf(SPACE_BYTES).equals(model.holes.get(last));
        assertThat(heap.isFree(last, SPACE_BYTES)).isEqualTo(fullyFree);
        if (fullyFree) {
            assertThat(heap.removeFreeEnd(last + SPACE_BYTES)).isEqualTo(SPACE_BYTES);
            model.holes.remove(last);
            spaces.remove(spaces.size() - 1);
        }
    }

    private static void allocate(IndexedHeap heap, Model model, int bytes) {
        long address = heap.allocate(bytes);
        if (address == IndexedHeap.NONE) {
            // The request's own bin may have a large enough hole after the few that were checked, but no larger bin has
            // a hole.
            int ownBin = IndexedHeap.binOf(bytes / 8);
            assertThat(model.holes.values()).allMatch(size -> IndexedHeap.binOf(size / 8) <= ownBin);
            assertThat(bytes < 4096 ? model.smallestFit(bytes) : 0).isZero();
            return;
        }
        Map.Entry<Long, Long> hole = model.holes.floorEntry(address);
        assertFitsBest(model, bytes, hole.getValue());
        model.take(address, bytes);
    }

    /** Checks that the hole is the smallest that fits. From 4 KiB on, the hole may be about a sixteenth larger. */
    private static void assertFitsBest(Model model, int bytes, long taken) {
        long best = model.smallestFit(bytes);
        int bin = IndexedHeap.binOf(taken / 8);
        int bestBin = IndexedHeap.binOf(best / 8);
        boolean skippedItsOwnBin = bestBin == IndexedHeap.binOf(bytes / 8) && best >= 4096;
        assertThat(bin == bestBin || skippedItsOwnBin)
                .as("requested " + bytes + ", took from " + taken + ", could from " + best)
                .isTrue();
        if (best < 4096) {
            assertThat(taken).isEqualTo(best);
        }
    }

    private static void freeOne(IndexedHeap heap, Model model, Random random) {
        List<Long> addresses = new ArrayList<>(model.used.keySet());
        long address = addresses.get(random.nextInt(addresses.size()));
        heap.free(address, (int) (long) model.used.get(address));
        model.free(address);
    }

    @Test
    void freedRegionMergesWithBothNeighbors() {
        IndexedHeap heap = new IndexedHeap();
        heap.addSpace(0, 96);
        long a = heap.allocate(32);
        long b = heap.allocate(32);
        long c = heap.allocate(32);
        assertThat(heap.allocate(8)).isEqualTo(IndexedHeap.NONE);
        heap.free(a, 32);
        heap.free(c, 32);
        assertThat(heap.largestHoleBytes()).isEqualTo(32);
        heap.free(b, 32);
        assertThat(heap.largestHoleBytes()).isEqualTo(96);
        assertThat(heap.isFree(0, 96)).isTrue();
    }

    @Test
    void smallRequestUsesSmallHole() {
        IndexedHeap heap = new IndexedHeap();
        heap.addSpace(0, 4096);
        long small = heap.allocate(64);
        heap.allocate(8);
        heap.free(small, 64);
        assertThat(heap.allocate(48)).isEqualTo(small);
    }

    @Test
    void binNumbersIncreaseWithSize() {
        int last = -1;
        for (long units = 1; units < 1 << 20; units++) {
            int bin = IndexedHeap.binOf(units);
            assertThat(bin == last || bin == last + 1 || units == 1)
                    .as("bin of " + units)
                    .isTrue();
            last = bin;
        }
        assertThat(IndexedHeap.binOf(1L << 38)).isGreaterThan(last);
    }

    // FreeSpace

    private static final HeapGeometry GEOMETRY = new HeapGeometry(32 * 1024);

    @Test
    void rebuildsFreeSpaceFromLiveRegions() {
        Seeds.forEach(20, seed -> {
            Random random = new Random(seed);
            int segments = 1 + random.nextInt(4);
            IndexedHeap heap = new IndexedHeap();
            Model model = new Model();
            for (int segment = 0; segment < segments; segment++) {
                heap.addSpace(GEOMETRY.firstAddress(segment), GEOMETRY.usableBytes());
                model.holes.put(GEOMETRY.firstAddress(segment), (long) GEOMETRY.usableBytes());
            }
            List<Long> regions = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                int length = random.nextInt(100);
                long region = Region.pack(0, length);
                long address = heap.allocate(Region.entryBytes(region));
                if (address != IndexedHeap.NONE && random.nextBoolean()) {
                    regions.add(Region.pack(address, length));
                    model.take(address, Region.entryBytes(region));
                }
            }
            Collections.shuffle(regions, random);
            long[] shuffled = regions.stream().mapToLong(Long::longValue).toArray();
            assertSame(rebuilt(segments, 1 + random.nextInt(4_000), shuffled), model);
        });
    }

    private static IndexedHeap rebuilt(int segments, int maxBytes, long... regions) {
        return rebuilt(new IndexedHeap(), GEOMETRY, segments, maxBytes, regions);
    }

    private static IndexedHeap rebuilt(
            IndexedHeap heap, HeapGeometry geometry, int segments, int maxBytes, long... regions) {
        rebuild(
                heap,
                geometry,
                segments,
                maxBytes,
                action -> Arrays.stream(regions).forEach(action));
        return heap;
    }

    private static void rebuild(
            IndexedHeap heap, HeapGeometry geometry, int segments, int maxBytes, FreeSpace.Regions regions) {
        FreeSpace freeSpace = new FreeSpace(geometry, segments, maxBytes, Long::toString);
        try {
            regions.forEach(region -> assertThat(freeSpace.add(region)).isTrue());
            freeSpace.rebuild(heap, regions);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /**
     * Checks that each pass collects the regions of as many segments as the memory permits. A list with space for 16
     * regions takes 128 bytes, one that has grown to 38 regions takes 304 bytes, and a bitmap takes 448 bytes.
     */
    @ParameterizedTest
    @CsvSource({"10, 319, 6", "10, 1535, 2", "10, 1536, 1", "33, 1824, 2", "56, 1791, 4", "56, 1792, 3", "100, 5376, 1"
    })
    void rebuildsFreeSpaceInBoundedPasses(int regionsPerSegment, int maxBytes, int expectedPasses) {
        int segments = 12;
        long[] regions = new long[segments * regionsPerSegment];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = Region.pack(GEOMETRY.firstAddress(i % segments) + 24L * (i / segments), 8);
        }
        AtomicInteger passes = new AtomicInteger();
        IndexedHeap heap = new IndexedHeap();
        FreeSpace.Regions counted = action -> {
            passes.incrementAndGet();
            Arrays.stream(regions).forEach(action);
        };
        rebuild(heap, GEOMETRY, segments, maxBytes, counted);
        assertThat(passes).hasValue(expectedPasses);
        assertThat(heap.usedBytes()).isEqualTo(regions.length * 16L);
    }

    /** Checks that a heap that cannot record more holes stays usable, and regards further free space as used. */
    @Test
    void heapAtHoleLimitStaysUsableAndIsRebuilt() {
        int most = 3;
        IndexedHeap heap = new IndexedHeap(most);
        heap.addSpace(GEOMETRY.firstAddress(0), GEOMETRY.usableBytes());
        long[] addresses = new long[GEOMETRY.usableBytes() / 16];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = heap.allocate(16);
        }
        assertThat(heap.allocate(16)).isEqualTo(IndexedHeap.NONE);
        for (int i = 0; i < 20; i += 2) {
            heap.free(addresses[i], 16);
        }
        assertThat(heap.freeBytes()).isEqualTo(16 * most);
        heap.free(addresses[1], 16);
        assertThat(heap.freeBytes()).as("joins the adjacent holes").isEqualTo(16 * most + 16);
        for (int i = 0; i < most + 1; i++) {
            assertThat(heap.allocate(16))
                    .isIn((Object[]) Arrays.stream(addresses).boxed().toArray());
        }
        assertThat(heap.allocate(16)).isEqualTo(IndexedHeap.NONE);

        long[] everyOther = IntStream.range(0, addresses.length)
                .filter(i -> i % 2 == 1)
                .mapToLong(i -> Region.pack(addresses[i], 8))
                .toArray();
        IndexedHeap opened = rebuilt(new IndexedHeap(most), GEOMETRY, 2, 1000, everyOther);
        assertThat(opened.freeBytes()).isEqualTo(16 * most);
        assertThat(opened.allocate(16)).isEqualTo(addresses[2 * (most - 1)]);
        for (long region : everyOther) {
            opened.free(Region.address(region), 16);
        }
        assertThat(opened.freeBytes() + opened.usedBytes()).isEqualTo(2L * GEOMETRY.usableBytes());
    }

    @Test
    void keepsLargeHolesBeyondHoleLimit() {
        HeapGeometry large = new HeapGeometry(1 << 22);
        long[] regions = {Region.pack(large.firstAddress(0) + 8, 0), Region.pack(large.firstAddress(0) + 24, 0)};
        IndexedHeap heap = rebuilt(new IndexedHeap(1), large, 2, 10, regions);
        assertThat(heap.freeBytes()).isEqualTo(8 + large.usableBytes() - 32 + large.usableBytes());
    }

    @Test
    void rebuildReportsOverlappingRegions() {
        long first = GEOMETRY.firstAddress(0);
        assertOverlap(first + 8, Region.pack(first, 1), Region.pack(first + 8, 1));
        assertOverlap(first, Region.pack(first, 100), Region.pack(first, 100));
        assertOverlap(first + 64, Region.pack(first, 100), Region.pack(first + 64, 0));
        long[] inBitmap = new long[101];
        Arrays.setAll(inBitmap, i -> Region.pack(first + 16L * i, 8));
        inBitmap[100] = inBitmap[7];
        assertOverlap(first + 16 * 7, inBitmap);
    }

    /** Checks the error with as many passes as possible, and with a single pass. */
    private static void assertOverlap(long address, long... regions) {
        assertOverlap(1, address, regions);
        assertOverlap(8 << 20, address, regions);
    }

    private static void assertOverlap(int maxBytes, long address, long[] regions) {
        assertThatExceptionOfType(CorruptStoreException.class)
                .isThrownBy(() -> rebuilt(2, maxBytes, regions))
                .as(Arrays.toString(regions))
                .satisfies(problem -> assertThat(problem.file()).isEqualTo(Long.toString(address)))
                .satisfies(problem -> assertThat(problem.offset()).isEqualTo(GEOMETRY.offsetOf(address)))
                .withMessageContaining("at heap address " + address + " ");
    }

    @Test
    void rejectsRegionOutsideSegments() {
        FreeSpace freeSpace = new FreeSpace(GEOMETRY, 2, 8 << 20, Long::toString);
        int segmentBytes = GEOMETRY.segmentBytes();
        long[] outside = {0, Blocks.BLOCK_BYTES - 8, segmentBytes - 8, segmentBytes, 2L * segmentBytes + 4096, 1L << 40
        };
        for (long address : outside) {
            assertThat(freeSpace.add(Region.pack(address, 1))).as("%d", address).isFalse();
        }
        assertThat(freeSpace.add(Region.pack(segmentBytes - 8, 0))).isTrue();
        FreeSpace empty = new FreeSpace(GEOMETRY, 0, 8 << 20, Long::toString);
        assertThat(empty.add(Region.pack(GEOMETRY.firstAddress(0), 8))).isFalse();
    }

    @Test
    void rebuildAcceptsAdjacentRegionsThatFillSegment() throws Exception {
        long first = GEOMETRY.firstAddress(1);
        int half = GEOMETRY.usableBytes() / 2;
        IndexedHeap heap = rebuilt(2, 2, Region.pack(first + half, half - 8), Region.pack(first, half - 8));
        assertThat(heap.usedBytes()).isEqualTo(GEOMETRY.usableBytes());
        assertThat(heap.freeBytes()).isEqualTo(GEOMETRY.usableBytes());
        assertThat(heap.largestHoleBytes()).isEqualTo(GEOMETRY.usableBytes());
    }

    @Test
    @Tag("thorough")
    void rebuildAssignsHighAddressesToTheirSegments() throws Exception {
        HeapGeometry large = new HeapGeometry(1 << 30);
        int segments = 1 << 11;
        long high = large.firstAddress(segments - 1);
        long low = large.firstAddress(0);
        IndexedHeap heap = rebuilt(new IndexedHeap(), large, segments, 1, Region.pack(high, 8), Region.pack(low, 8));
        assertThat(heap.usedBytes()).isEqualTo(32);
        List<Long> holes = new ArrayList<>();
        forEachHole(heap, (address, bytes) -> holes.add(address));
        assertThat(holes).hasSize(segments).contains(low + 16, high + 16).doesNotContain(low, high);
    }
}
