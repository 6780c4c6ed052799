package io.caravan.heap;

import io.caravan.format.Region;
import java.util.Arrays;

/** Rebuilds a heap's free space from what is live. */
public final class FreeSpace {

    private FreeSpace() {}

    /** Two live regions overlap, or one lies outside the heap's segments: the index is wrong. */
    public static final class OverlapException extends Exception {
        private static final long serialVersionUID = 1L;

        private final long address;

        OverlapException(long address, String message) {
            super(message);
            this.address = address;
        }

        /** Heap address of the region that does not fit. */
        public long address() {
            return address;
        }
    }

    /**
     * A heap of {@code segments} segments in which exactly these regions are used.
     *
     * @param regions packed regions, sorted by this method; longs sort by address, as it stands in the upper bits
     */
    public static IndexedHeap rebuild(HeapGeometry geometry, int segments, long[] regions) throws OverlapException {
        sortUnsigned(regions);
        IndexedHeap heap = new IndexedHeap();
        int next = 0;
        for (int segment = 0; segment < segments; segment++) {
            heap.addSpace(geometry.firstAddress(segment), geometry.usableBytes());
            next = takeRegionsOf(segment, geometry, heap, regions, next);
        }
        if (next < regions.length) {
            throw misplaced(regions[next], "lies behind the heap's last segment");
        }
        return heap;
    }

    /** An address of 1 TiB or more sets the sign. */
    private static void sortUnsigned(long[] regions) {
        Arrays.parallelSetAll(regions, i -> regions[i] ^ Long.MIN_VALUE);
        Arrays.parallelSort(regions);
        Arrays.parallelSetAll(regions, i -> regions[i] ^ Long.MIN_VALUE);
    }

    private static int takeRegionsOf(int segment, HeapGeometry geometry, IndexedHeap heap, long[] regions, int from)
            throws OverlapException {
        long free = geometry.firstAddress(segment);
        int next = from;
        while (next < regions.length && geometry.segmentOf(Region.address(regions[next])) == segment) {
            long address = Region.address(regions[next]);
            int bytes = Region.entryBytes(regions[next]);
            if (address < free || !geometry.contains(address, bytes)) {
                throw misplaced(regions[next], "overlaps its neighbour or leaves its segment");
            }
            heap.take(heap.holeAt(free), address, bytes);
            free = address + bytes;
            next++;
        }
        return next;
    }

    private static OverlapException misplaced(long region, String problem) {
        return new OverlapException(
                Region.address(region),
                "region of " + Region.entryBytes(region) + " bytes at heap address " + Region.address(region) + " "
                        + problem);
    }
}
