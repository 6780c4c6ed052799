package io.caravan.heap;

import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;

/**
 * The layout of the heap's address space in segment files. Segment n starts at n times the segment size, and its first
 * block is the file header. The header also prevents holes of two segments from merging.
 */
public record HeapGeometry(int segmentBytes) {
    private static final int GROWTHS = 64;
    private static final int MAX_GROWTH_BYTES = 1 << 20;

    public int segmentOf(long address) {
        return (int) (address / segmentBytes);
    }

    public int offsetOf(long address) {
        return (int) (address % segmentBytes);
    }

    /** Returns the lowest address that a region of a segment can have. */
    public long firstAddress(int segment) {
        return (long) segment * segmentBytes + Blocks.BLOCK_BYTES;
    }

    /** Returns the number of bytes of a segment that regions can use: all bytes except the header. */
    public int usableBytes() {
        return segmentBytes - Blocks.BLOCK_BYTES;
    }

    /** Returns the minimum growth of a segment's allocated part: a 64th of the segment, at most 1 MiB. */
    public int growthBytes() {
        return Blocks.roundUp(Math.min(MAX_GROWTH_BYTES, segmentBytes / GROWTHS));
    }

    /** Whether a region of this size at this address lies entirely within the usable part of one segment. */
    public boolean contains(long address, int bytes) {
        if (address < 0 || address >= Region.ADDRESS_LIMIT || address % EntryLayout.ALIGNMENT != 0) {
            return false;
        }
        int offset = offsetOf(address);
        return offset >= Blocks.BLOCK_BYTES && bytes <= segmentBytes - offset;
    }
}
