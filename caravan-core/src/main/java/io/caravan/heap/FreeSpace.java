package io.caravan.heap;

import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** Rebuilds a heap's free space from its live regions. */
public final class FreeSpace {

    private FreeSpace() {}

    /** Thrown if two live regions overlap, or if a region lies outside the heap's segments; the index is then wrong. */
    public static final class OverlapException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final long address;

        OverlapException(long address, String message) {
            super(message);
            this.address = address;
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
        UsedUnits used = new UsedUnits(geometry.usableBytes());
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
                throw misplaced(region, "is after the heap's last segment");
            }
            if (++counts[segment] > most) {
                throw misplaced(region, "is one more than its segment can hold");
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

    private static void rebuild(IndexedHeap heap, HeapGeometry geometry, int segment, long[] regions, UsedUnits used) {
        used.clear();
        for (long region : regions) {
            mark(geometry, segment, region, used);
        }
        heap.addUsedSpace(geometry.usableBytes());
        long first = geometry.firstAddress(segment);
        used.forEachGap((offset, bytes) -> heap.addFree(first + offset, bytes));
    }

    private static void mark(HeapGeometry geometry, int segment, long region, UsedUnits used) {
        long address = Region.address(region);
        int bytes = Region.entryBytes(region);
        if (!geometry.contains(address, bytes) || !used.mark((int) (address - geometry.firstAddress(segment)), bytes)) {
            throw misplaced(region, "overlaps its neighbor or leaves its segment");
        }
    }

    private static OverlapException misplaced(long region, String problem) {
        return new OverlapException(
                Region.address(region),
                "region of " + Region.entryBytes(region) + " bytes at heap address " + Region.address(region) + " "
                        + problem);
    }

    /** A bitmap of the used 8-byte units in a range of the address space. */
    private static final class UsedUnits {
        private static final int UNIT_SHIFT = 3;
        private static final int WORD_SHIFT = 6;

        private final long[] words;
        private final int units;

        /** Creates a bitmap for a range of this many bytes, all unused. */
        UsedUnits(int bytes) {
            units = bytes >>> UNIT_SHIFT;
            words = new long[(units + Long.SIZE - 1) >>> WORD_SHIFT];
        }

        void clear() {
            Arrays.fill(words, 0);
        }

        /**
         * Marks bytes as used. Returns whether all of them were unused.
         *
         * @param offset the start, a multiple of 8
         * @param bytes the number of bytes, a multiple of 8
         */
        boolean mark(int offset, int bytes) {
            int from = offset >>> UNIT_SHIFT;
            int last = from + (bytes >>> UNIT_SHIFT) - 1;
            long head = -1L << from;
            long tail = -1L >>> (Long.SIZE - 1 - last);
            int first = from >>> WORD_SHIFT;
            int end = last >>> WORD_SHIFT;
            if (first == end) {
                return mark(first, head & tail);
            }
            boolean free = mark(first, head);
            for (int word = first + 1; word < end; word++) {
                free &= mark(word, -1L);
            }
            return free & mark(end, tail);
        }

        private boolean mark(int word, long bits) {
            boolean free = (words[word] & bits) == 0;
            words[word] |= bits;
            return free;
        }

        /** Calls the visitor with each run of unused bytes, in order. */
        void forEachGap(IndexedHeap.HoleVisitor visitor) {
            BitSet used = BitSet.valueOf(words);
            int from = used.nextClearBit(0);
            while (from < units) {
                int next = used.nextSetBit(from);
                int end = next < 0 ? units : next;
                visitor.hole((long) from << UNIT_SHIFT, (long) (end - from) << UNIT_SHIFT);
                from = used.nextClearBit(end);
            }
        }
    }
}
