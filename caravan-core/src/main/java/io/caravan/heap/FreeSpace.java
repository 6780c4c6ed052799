package io.caravan.heap;

import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** Rebuilds a heap's free space from its live regions. */
public final class FreeSpace {

    /** The binary logarithm of the number of bytes for which one bit states whether they are used. */
    private static final int UNIT_SHIFT = 3;

    private FreeSpace() {}

    /** Thrown if two live regions overlap, or if a region lies outside the heap's segments; the index is then wrong. */
    public static final class OverlapException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final long address;

        OverlapException(long region, String problem) {
            super("region of " + Region.entryBytes(region) + " bytes at heap address " + Region.address(region) + " "
                    + problem);
            this.address = Region.address(region);
        }

        /** Returns the heap address of the misplaced region. */
        public long address() {
            return address;
        }
    }

    /**
     * Adds segments to an empty heap, in which exactly these regions are then used.
     *
     * <p>Each pass over all regions collects the regions of as many segments as together have about {@code
     * regionsAtOnce} regions. Memory is therefore bounded by that number, or by the number of regions in one segment,
     * if that is higher. Within a segment, one bit for each 8 bytes marks used space; these bits fit in a processor
     * cache regardless of the size of the heap.
     *
     * @param regions calls its argument with every packed region, in any order, each time that it is called
     */
    public static void rebuild(
            IndexedHeap heap, HeapGeometry geometry, int segments, Consumer<LongConsumer> regions, long regionsAtOnce)
            throws OverlapException {
        int[] counts = countBySegment(geometry, segments, regions);
        BitSet used = new BitSet(geometry.usableBytes() >>> UNIT_SHIFT);
        int end = 0;
        while (end < segments) {
            int first = end;
            long gathered = counts[end++];
            while (end < segments && gathered + counts[end] <= regionsAtOnce) {
                gathered += counts[end++];
            }
            long[][] bySegment = gather(geometry, first, Arrays.copyOfRange(counts, first, end), regions);
            for (int segment = first; segment < end; segment++) {
                rebuild(heap, geometry, segment, bySegment[segment - first], used);
            }
        }
    }

    private static int[] countBySegment(HeapGeometry geometry, int segments, Consumer<LongConsumer> regions) {
        int[] counts = new int[segments];
        int most = geometry.usableBytes() / EntryLayout.entryBytes(0);
        regions.accept(region -> {
            int segment = geometry.segmentOf(Region.address(region));
            if (segment >= segments) {
                throw new OverlapException(region, "is after the heap's last segment");
            }
            if (++counts[segment] > most) {
                throw new OverlapException(region, "is one more than its segment can hold");
            }
        });
        return counts;
    }

    /** Collects the regions of consecutive segments into an array for each segment. */
    private static long[][] gather(
            HeapGeometry geometry, int firstSegment, int[] counts, Consumer<LongConsumer> regions) {
        long[][] gathered = new long[counts.length][];
        for (int i = 0; i < counts.length; i++) {
            gathered[i] = new long[counts[i]];
        }
        int[] filled = new int[counts.length];
        long low = (long) firstSegment * geometry.segmentBytes();
        long high = low + (long) counts.length * geometry.segmentBytes();
        regions.accept(region -> {
            long address = Region.address(region);
            if (address >= low && address < high) {
                int i = geometry.segmentOf(address) - firstSegment;
                gathered[i][filled[i]++] = region;
            }
        });
        return gathered;
    }

    private static void rebuild(IndexedHeap heap, HeapGeometry geometry, int segment, long[] regions, BitSet used) {
        long first = geometry.firstAddress(segment);
        long units = 0;
        used.clear();
        for (long region : regions) {
            if (!geometry.contains(Region.address(region), Region.entryBytes(region))) {
                throw new OverlapException(region, "leaves its segment");
            }
            used.set(unit(region, first), endUnit(region, first));
            units += endUnit(region, first) - unit(region, first);
        }
        if (used.cardinality() < units) {
            rejectOverlap(regions, first, used);
        }
        heap.addUsedSpace(geometry.usableBytes());
        int end = geometry.usableBytes() >>> UNIT_SHIFT;
        int hole = used.nextClearBit(0);
        while (hole < end) {
            int next = used.nextSetBit(hole);
            int holeEnd = next < 0 ? end : next;
            heap.addFree(first + ((long) hole << UNIT_SHIFT), (long) (holeEnd - hole) << UNIT_SHIFT);
            hole = used.nextClearBit(holeEnd);
        }
    }

    private static int unit(long region, long first) {
        return (int) (Region.address(region) - first) >>> UNIT_SHIFT;
    }

    private static int endUnit(long region, long first) {
        return unit(region, first) + (Region.entryBytes(region) >>> UNIT_SHIFT);
    }

    /** Throws the exception that names the first region that overlaps an earlier one. */
    private static void rejectOverlap(long[] regions, long first, BitSet used) {
        used.clear();
        for (long region : regions) {
            if (!used.get(unit(region, first), endUnit(region, first)).isEmpty()) {
                throw new OverlapException(region, "overlaps its neighbor");
            }
            used.set(unit(region, first), endUnit(region, first));
        }
    }
}
