package io.caravan.heap;

import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;

/**
 * How the heap's address space lies in segment files: segment n holds the addresses from n times its size on, its first
 * block being the file's header. The header also keeps regions of one segment from joining those of the next.
 */
public record HeapGeometry(int segmentBytes) {

    public int segmentOf(long address) {
        return (int) (address / segmentBytes);
    }

    public int offsetOf(long address) {
        return (int) (address % segmentBytes);
    }

    /** The first address of a segment that a region may have. */
    public long firstAddress(int segment) {
        return (long) segment * segmentBytes + Blocks.BLOCK_BYTES;
    }

    /** Bytes of a segment that regions may have. */
    public int usableBytes() {
        return segmentBytes - Blocks.BLOCK_BYTES;
    }

    /** Whether a region of this size can be at this address: wholly inside one segment's usable part. */
    public boolean contains(long address, int bytes) {
        if (address < 0 || address >= Region.ADDRESS_LIMIT || address % EntryLayout.ALIGNMENT != 0) {
            return false;
        }
        int offset = offsetOf(address);
        return offset >= Blocks.BLOCK_BYTES && bytes <= segmentBytes - offset;
    }
}
