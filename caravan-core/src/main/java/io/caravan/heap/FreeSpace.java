package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.format.Region;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the free space of a heap. Its used regions are added while a checkpoint is read; {@link #rebuild} then adds the
 * gaps between them to a heap.
 *
 * <p>The regions of a segment are collected in a list, or in a bitmap of the segment once that is smaller. A bitmap has
 * one bit for each 8 bytes. If the regions of all segments take too much memory, those of the last segments are
 * dropped, and collected in further passes over all regions.
 */
public final class FreeSpace {
    /** The binary logarithm of the number of bytes for which one bit states whether they are used. */
    private static final int UNIT_SHIFT = 3;

    private static final int FIRST_LIST = 16;
    /** Lists grow by a quarter, because little memory stays unused then, and fewer passes suffice. */
    private static final int GROWTH_SHIFT = 2;

    private final HeapGeometry geometry;
    private final int segments;
    private final long maxBytes;
    private final LongFunction<String> path;
    /** The consecutive segments whose regions the current pass collects. */
    private final List<SegmentUse> uses = new ArrayList<>();

    private int firstSegment;
    /** The memory that the collected regions take. */
    private long bytes;

    /** Reads all regions. */
    @FunctionalInterface
    public interface Regions {
        /** Calls the action with every packed region, in any order. */
        void forEach(LongConsumer action) throws IOException;
    }

    /**
     * Prepares the first pass over the regions, which {@link #add} receives.
     *
     * @param maxBytes maximum memory for lists and bitmaps; one segment may take more
     * @param path returns the path of the file that contains a heap address
     */
    public FreeSpace(HeapGeometry geometry, int segments, long maxBytes, LongFunction<String> path) {
        this.geometry = geometry;
        this.segments = segments;
        this.maxBytes = maxBytes;
        this.path = path;
        beginPass(0);
    }

    private void beginPass(int segment) {
        firstSegment = segment;
        bytes = 0;
        uses.clear();
        for (int i = segment; i < segments; i++) {
            uses.add(new SegmentUse(i));
        }
    }

    /** Adds a used region. Returns false if it does not lie entirely within one of the heap's segments. */
    public boolean add(long region) {
        int segment = geometry.segmentOf(Region.address(region));
        long offset = Region.address(region) - geometry.firstAddress(segment);
        if (segment >= segments || offset < 0 || Region.entryBytes(region) > geometry.usableBytes() - offset) {
            return false;
        }
        int i = segment - firstSegment;
        if (i >= 0 && i < uses.size()) {
            uses.get(i).add(region);
            while (bytes > maxBytes && uses.size() > 1) {
                bytes -= uses.remove(uses.size() - 1).memoryBytes();
            }
        }
        return true;
    }

    /**
     * Adds the segments to an empty heap, in which exactly the added regions are then used.
     *
     * @param regions reads the same regions again, if further passes are necessary
     * @throws CorruptStoreException if two regions overlap; the index is then wrong
     */
    public void rebuild(IndexedHeap heap, Regions regions) throws IOException {
        BitSet scratch = new BitSet(geometry.usableBytes() >>> UNIT_SHIFT);
        while (true) {
            for (SegmentUse use : uses) {
                addHoles(heap, use, use.bitmap(scratch), regions);
            }
            int next = firstSegment + uses.size();
            if (next == segments) {
                return;
            }
            beginPass(next);
            regions.forEach(this::add);
        }
    }

    private int bitmapBytes() {
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
            long address = Region.address(region);
            if (geometry.segmentOf(address) == segment) {
                if (!used.get(unit(region, first), endUnit(region, first)).isEmpty()) {
                    throw new CorruptStoreException(
                            path.apply(address),
                            geometry.offsetOf(address),
                            "the index is wrong: region of " + Region.entryBytes(region) + " bytes at heap address "
                                    + address + " overlaps its neighbor");
                }
                used.set(unit(region, first), endUnit(region, first));
            }
        });
        throw new IllegalStateException("no regions of segment " + segment + " overlap");
    }

    /** The regions of a segment, in a list or in a bitmap. */
    private final class SegmentUse {
        private final int segment;
        private final long first;
        private long[] list = {};
        private int listed;
        private @Nullable BitSet bitmap;
        /** The total size of the marked regions. */
        private long units;

        SegmentUse(int segment) {
            this.segment = segment;
            this.first = geometry.firstAddress(segment);
        }

        void add(long region) {
            if (bitmap == null && listed == list.length) {
                grow();
            }
            if (bitmap == null) {
                list[listed++] = region;
            } else {
                mark(bitmap, region);
            }
        }

        private void grow() {
            bytes -= memoryBytes();
            int capacity = Math.max(FIRST_LIST, list.length + (list.length >> GROWTH_SHIFT));
            if (capacity * Long.BYTES < bitmapBytes()) {
                list = Arrays.copyOf(list, capacity);
            } else {
                bitmap = bitmap(new BitSet(geometry.usableBytes() >>> UNIT_SHIFT));
                list = new long[0];
            }
            bytes += memoryBytes();
        }

        int memoryBytes() {
            return bitmap == null ? list.length * Long.BYTES : bitmapBytes();
        }

        private void mark(BitSet used, long region) {
            used.set(unit(region, first), endUnit(region, first));
            units += Region.entryBytes(region) >>> UNIT_SHIFT;
        }

        /** Returns the segment's bitmap. If the regions are in a list, fills {@code scratch}, and returns it. */
        BitSet bitmap(BitSet scratch) {
            if (bitmap != null) {
                return bitmap;
            }
            scratch.clear();
            for (int i = 0; i < listed; i++) {
                mark(scratch, list[i]);
            }
            return scratch;
        }
    }
}
