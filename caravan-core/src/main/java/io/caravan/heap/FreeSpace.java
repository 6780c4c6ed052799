package io.caravan.heap;

import io.caravan.format.Region;

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
     * <p>One pass brings the regions of a segment together; then a bit for each 8 bytes of one segment at a time says what
     * is used, and that fits a processor's cache however large the heap is.
     *
     * @param regions packed regions in any order; reordered by this method
     */
    public static IndexedHeap rebuild(HeapGeometry geometry, int segments, long[] regions) throws OverlapException {
        int[] ends = gatherBySegment(geometry, segments, regions);
        IndexedHeap heap = new IndexedHeap();
        UsedUnits used = new UsedUnits(geometry.usableBytes());
        int from = 0;
        for (int segment = 0; segment < segments; segment++) {
            used.clear();
            for (int i = from; i < ends[segment]; i++) {
                mark(geometry, segment, regions[i], used);
            }
            heap.addUsedSpace(geometry.usableBytes());
            long first = geometry.firstAddress(segment);
            used.forEachGap((offset, bytes) -> heap.addFree(first + offset, bytes));
            from = ends[segment];
        }
        return heap;
    }

    /** Swaps each region into its segment's place. Returns where each segment's regions end. */
    private static int[] gatherBySegment(HeapGeometry geometry, int segments, long[] regions) throws OverlapException {
        int[] ends = new int[segments];
        for (long region : regions) {
            int segment = geometry.segmentOf(Region.address(region));
            if (segment >= segments) {
                throw misplaced(region, "lies behind the heap's last segment");
            }
            ends[segment]++;
        }
        int[] next = new int[segments];
        for (int segment = 1; segment < segments; segment++) {
            next[segment] = ends[segment - 1];
            ends[segment] += ends[segment - 1];
        }
        for (int segment = 0; segment < segments; segment++) {
            while (next[segment] < ends[segment]) {
                long region = regions[next[segment]];
                int home = geometry.segmentOf(Region.address(region));
                regions[next[segment]] = regions[next[home]];
                regions[next[home]++] = region;
            }
        }
        return ends;
    }

    private static void mark(HeapGeometry geometry, int segment, long region, UsedUnits used) throws OverlapException {
        long address = Region.address(region);
        int bytes = Region.entryBytes(region);
        if (!geometry.contains(address, bytes) || !used.mark((int) (address - geometry.firstAddress(segment)), bytes)) {
            throw misplaced(region, "overlaps its neighbour or leaves its segment");
        }
    }

    private static OverlapException misplaced(long region, String problem) {
        return new OverlapException(
                Region.address(region),
                "region of " + Region.entryBytes(region) + " bytes at heap address " + Region.address(region) + " "
                        + problem);
    }
}
