package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * Rebuilds a heap's free space from its live regions.
 *
 * @param regions calls its argument with every packed region, in any order, each time that it is called
 * @param path returns the path of the file that contains a heap address
 */
public record FreeSpace(
        HeapGeometry geometry, int segments, Consumer<LongConsumer> regions, LongFunction<String> path) {

    /** The binary logarithm of the number of bytes for which one bit states whether they are used. */
    private static final int UNIT_SHIFT = 3;

    /**
     * Adds segments to an empty heap, in which exactly these regions are then used.
     *
     * <p>Each pass over all regions collects the regions of as many segments as together have about {@code
     * regionsAtOnce} regions. Memory is therefore bounded by that number, or by the number of regions in one segment,
     * if that is higher. Within a segment, one bit for each 8 bytes marks used space; these bits fit in a processor
     * cache regardless of the size of the heap.
     *
     * @throws CorruptStoreException if two regions overlap, or if a region lies outside the heap's segments; the index
     *     is then wrong
     */
    public void rebuild(IndexedHeap heap, long regionsAtOnce) {
        int[] counts = countBySegment();
        BitSet used = new BitSet(geometry.usableBytes() >>> UNIT_SHIFT);
        int end = 0;
        while (end < segments) {
            int first = end;
            long gathered = counts[end++];
            while (end < segments && gathered + counts[end] <= regionsAtOnce) {
                gathered += counts[end++];
            }
            long[][] bySegment = gather(first, Arrays.copyOfRange(counts, first, end));
            for (int segment = first; segment < end; segment++) {
                rebuild(heap, segment, bySegment[segment - first], used);
            }
        }
    }

    private int[] countBySegment() {
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
    private long[][] gather(int firstSegment, int[] counts) {
        long[][] gathered = new long[counts.length][];
        Arrays.setAll(gathered, i -> new long[counts[i]]);
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

    private void rebuild(IndexedHeap heap, int segment, long[] found, BitSet used) {
        long first = geometry.firstAddress(segment);
        long units = 0;
        used.clear();
        for (long region : found) {
            if (!geometry.contains(Region.address(region), Region.entryBytes(region))) {
                throw misplaced(region, "leaves its segment");
            }
            used.set(unit(region, first), endUnit(region, first));
            units += endUnit(region, first) - unit(region, first);
        }
        if (used.cardinality() < units) {
            throw overlapping(found, first);
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

    /** Returns the exception that names the first region that overlaps an earlier one. */
    private CorruptStoreException overlapping(long[] found, long first) {
        BitSet used = new BitSet();
        int at = 0;
        while (used.get(unit(found[at], first), endUnit(found[at], first)).isEmpty()) {
            used.set(unit(found[at], first), endUnit(found[at], first));
            at++;
        }
        return misplaced(found[at], "overlaps its neighbor");
    }

    private CorruptStoreException misplaced(long region, String problem) {
        long address = Region.address(region);
        return new CorruptStoreException(
                path.apply(address),
                geometry.offsetOf(address),
                "the index is wrong: region of " + Region.entryBytes(region) + " bytes at heap address " + address + " "
                        + problem);
    }
}
