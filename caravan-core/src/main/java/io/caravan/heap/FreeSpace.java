package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

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
     * <p>The first pass over all regions counts them, unless bitmaps of all segments fit in memory. Each further pass
     * collects the regions of as many segments as fit in memory. The regions of a segment are collected in a list, or
     * in a bitmap of the segment if that is smaller. A bitmap has one bit for each 8 bytes.
     *
     * @param maxBytes maximum memory for lists and bitmaps; one segment may take more
     * @throws CorruptStoreException if two regions overlap, or if a region lies outside the heap's segments; the index
     *     is then wrong
     */
    public void rebuild(IndexedHeap heap, long maxBytes) {
        // Without segments, only the first pass checks the regions.
        boolean countless = segments > 0 && segments * bitmapBytes() <= maxBytes;
        int[] counts = countless ? maxCounts() : countBySegment();
        BitSet scratch = new BitSet(countless ? 0 : geometry.usableBytes() >>> UNIT_SHIFT);
        int end = 0;
        while (end < segments) {
            int first = end;
            long bytes = memoryBytes(counts[end++]);
            while (end < segments && bytes + memoryBytes(counts[end]) <= maxBytes) {
                bytes += memoryBytes(counts[end++]);
            }
            SegmentUse[] uses = new SegmentUse[end - first];
            Arrays.setAll(uses, i -> new SegmentUse(first + i, counts[first + i]));
            regions.accept(region -> {
                int i = segmentOf(region) - first;
                if (i >= 0 && i < uses.length) {
                    uses[i].add(region);
                }
            });
            for (SegmentUse use : uses) {
                addHoles(heap, use, use.bitmap(scratch));
            }
        }
    }

    private int segmentOf(long region) {
        int segment = geometry.segmentOf(Region.address(region));
        if (segment >= segments) {
            throw misplaced(region, "is after the heap's last segment");
        }
        return segment;
    }

    private int[] countBySegment() {
        int[] counts = new int[segments];
        int most = maxCount();
        regions.accept(region -> {
            if (++counts[segmentOf(region)] > most) {
                throw misplaced(region, "is one more than its segment can hold");
            }
        });
        return counts;
    }

    private int[] maxCounts() {
        int[] counts = new int[segments];
        Arrays.fill(counts, maxCount());
        return counts;
    }

    private int maxCount() {
        return geometry.usableBytes() / EntryLayout.entryBytes(0);
    }

    private long memoryBytes(int count) {
        return Math.min((long) count * Long.BYTES, bitmapBytes());
    }

    private long bitmapBytes() {
        return geometry.usableBytes() >>> UNIT_SHIFT + 3;
    }

    private void addHoles(IndexedHeap heap, SegmentUse use, BitSet used) {
        if (used.cardinality() < use.units) {
            throw overlapping(use.segment);
        }
        heap.addUsedSpace(geometry.usableBytes());
        int end = geometry.usableBytes() >>> UNIT_SHIFT;
        int hole = used.nextClearBit(0);
        while (hole < end) {
            int next = used.nextSetBit(hole);
            int holeEnd = next < 0 ? end : next;
            heap.addFree(use.first + ((long) hole << UNIT_SHIFT), (long) (holeEnd - hole) << UNIT_SHIFT);
            hole = used.nextClearBit(holeEnd);
        }
    }

    private static int unit(long region, long first) {
        return (int) (Region.address(region) - first) >>> UNIT_SHIFT;
    }

    private static int endUnit(long region, long first) {
        return unit(region, first) + (Region.entryBytes(region) >>> UNIT_SHIFT);
    }

    /** Returns the exception that names the first region of a segment that overlaps an earlier one. */
    private CorruptStoreException overlapping(int segment) {
        long first = geometry.firstAddress(segment);
        BitSet used = new BitSet();
        regions.accept(region -> {
            if (geometry.segmentOf(Region.address(region)) == segment) {
                if (!used.get(unit(region, first), endUnit(region, first)).isEmpty()) {
                    throw misplaced(region, "overlaps its neighbor");
                }
                used.set(unit(region, first), endUnit(region, first));
            }
        });
        throw new IllegalStateException("no regions of segment " + segment + " overlap");
    }

    private CorruptStoreException misplaced(long region, String problem) {
        long address = Region.address(region);
        return new CorruptStoreException(
                path.apply(address),
                geometry.offsetOf(address),
                "the index is wrong: region of " + Region.entryBytes(region) + " bytes at heap address " + address + " "
                        + problem);
    }

    /** The regions of a segment, in a list or in a bitmap. */
    private final class SegmentUse {
        private final int segment;
        private final long first;
        private final long @Nullable [] list;
        private final BitSet bitmap;
        private int listed;
        /** The total size of the regions in the bitmap. */
        private long units;

        SegmentUse(int segment, int count) {
            this.segment = segment;
            this.first = geometry.firstAddress(segment);
            this.list = (long) count * Long.BYTES <= bitmapBytes() ? new long[count] : null;
            this.bitmap = new BitSet(list == null ? geometry.usableBytes() >>> UNIT_SHIFT : 0);
        }

        void add(long region) {
            if (list == null) {
                mark(bitmap, region);
            } else {
                list[listed++] = region;
            }
        }

        private void mark(BitSet used, long region) {
            long offset = Region.address(region) - first;
            int bytes = Region.entryBytes(region);
            if (offset < 0 || bytes > geometry.usableBytes() - offset) {
                throw misplaced(region, "leaves its segment");
            }
            int unit = (int) offset >>> UNIT_SHIFT;
            used.set(unit, unit + (bytes >>> UNIT_SHIFT));
            units += bytes >>> UNIT_SHIFT;
        }

        /** Returns the segment's bitmap. If the regions are in a list, fills {@code scratch}, and returns it. */
        BitSet bitmap(BitSet scratch) {
            if (list == null) {
                return bitmap;
            }
            scratch.clear();
            for (long region : list) {
                mark(scratch, region);
            }
            return scratch;
        }
    }
}
