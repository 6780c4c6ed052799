package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntUnaryOperator;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the free space of a heap, from its used regions. While a checkpoint is read, {@link #add} receives every region.
 * {@link #rebuild} then adds the gaps between them to a heap.
 *
 * <p>If bitmaps of all segments fit in memory, the first pass over the regions marks them there. Otherwise it counts
 * them, and each further pass collects the regions of as many segments as fit in memory. The regions of a segment are
 * collected in a list, or in a bitmap of the segment if that is smaller. A bitmap has one bit for each 8 bytes.
 */
public final class FreeSpace {
    /** The binary logarithm of the number of bytes for which one bit states whether they are used. */
    private static final int UNIT_SHIFT = 3;

    private final HeapGeometry geometry;
    private final long maxBytes;
    private final LongFunction<String> path;
    /** The number of regions in each segment. */
    private final int[] counts;
    /** The segments whose regions the current pass collects, and the number of the first. */
    private SegmentUse[] uses = {};

    private int first;

    /** Reads all regions. */
    @FunctionalInterface
    public interface Regions {
        /** Calls the action with every packed region, in any order. */
        void forEach(LongConsumer action) throws IOException;
    }

    /**
     * Prepares the first pass over the regions.
     *
     * @param maxBytes maximum memory for lists and bitmaps; one segment may take more
     * @param path returns the path of the file that contains a heap address
     */
    public FreeSpace(HeapGeometry geometry, int segments, long maxBytes, LongFunction<String> path) {
        this.geometry = geometry;
        this.maxBytes = maxBytes;
        this.path = path;
        this.counts = new int[segments];
        if (segments * bitmapBytes() <= maxBytes) {
            prepare(segments, segment -> maxCount());
        }
    }

    /**
     * Adds a used region in the first pass.
     *
     * @throws CorruptStoreException if the region lies outside the heap's segments; the index is then wrong
     */
    public void add(long region) {
        int segment = geometry.segmentOf(Region.address(region));
        if (segment >= counts.length) {
            throw misplaced(region, "is after the heap's last segment");
        }
        if (++counts[segment] > maxCount()) {
            throw misplaced(region, "is one more than its segment can hold");
        }
        collect(region);
    }

    private void collect(long region) {
        int i = geometry.segmentOf(Region.address(region)) - first;
        if (i >= 0 && i < uses.length) {
            uses[i].add(region);
        }
    }

    /**
     * Adds the segments to an empty heap, in which exactly the added regions are then used.
     *
     * @param regions reads the same regions again, if further passes are necessary
     * @throws CorruptStoreException if two regions overlap; the index is then wrong
     */
    public void rebuild(IndexedHeap heap, Regions regions) throws IOException {
        BitSet scratch = new BitSet();
        while (true) {
            for (SegmentUse use : uses) {
                addHoles(heap, use, use.bitmap(scratch), regions);
            }
            first += uses.length;
            if (first == counts.length) {
                return;
            }
            int end = first;
            long bytes = memoryBytes(counts[end++]);
            while (end < counts.length && bytes + memoryBytes(counts[end]) <= maxBytes) {
                bytes += memoryBytes(counts[end++]);
            }
            prepare(end, segment -> counts[segment]);
            regions.forEach(this::collect);
        }
    }

    /** Prepares a pass that collects at most this many regions of each segment, from the first to before {@code end}. */
    private void prepare(int end, IntUnaryOperator maxCounts) {
        uses = new SegmentUse[end - first];
        Arrays.setAll(uses, i -> new SegmentUse(first + i, maxCounts.applyAsInt(first + i)));
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

    private void addHoles(IndexedHeap heap, SegmentUse use, BitSet used, Regions regions) throws IOException {
        if (used.cardinality() < use.units) {
            throw overlapping(use.segment, regions);
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
    private CorruptStoreException overlapping(int segment, Regions regions) throws IOException {
        long first = geometry.firstAddress(segment);
        BitSet used = new BitSet();
        regions.forEach(region -> {
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
