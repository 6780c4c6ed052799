package io.caravan.wal;

import io.caravan.format.Blocks;

/**
 * The layout of the log in segment files. A log sequence number (LSN) is a byte position. Segment n starts at n times
 * the segment size, and its first block is the file header.
 */
public record LogGeometry(int segmentBytes) {
    private static final int FRONT_SHARE = 16;

    public long segmentOf(long lsn) {
        return lsn / segmentBytes;
    }

    public int offsetOf(long lsn) {
        return (int) (lsn % segmentBytes);
    }

    public long startOf(long segment) {
        return segment * segmentBytes;
    }

    /** Returns the position of a segment's first frame. */
    public long firstFrame(long segment) {
        return startOf(segment) + Blocks.BLOCK_BYTES;
    }

    /** Returns the size of a segment's front, in bytes. Appends may use the front even if no later segment is ready. */
    public int frontBytes() {
        return segmentBytes / FRONT_SHARE;
    }

    public boolean isInFront(long lsn) {
        return offsetOf(lsn) < frontBytes();
    }

    /** Returns the number of bytes from a position to the end of the position's segment. */
    public int remaining(long lsn) {
        return segmentBytes - offsetOf(lsn);
    }

    /** Returns the position after a frame that ends here: the next block, or the next segment if this one is full. */
    public long positionAfter(long end) {
        long block = Blocks.roundUp(end);
        return offsetOf(block) == 0 ? firstFrame(segmentOf(block)) : block;
    }
}
