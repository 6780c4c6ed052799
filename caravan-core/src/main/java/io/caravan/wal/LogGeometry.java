package io.caravan.wal;

import io.caravan.format.Blocks;
import io.caravan.format.FrameLayout;

/**
 * How the log lies in segment files: a log sequence number (LSN) is a byte position, segment n holds the positions from
 * n times its size on, and the first block of a segment is the file's header.
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

    /** Where a segment's first frame is. */
    public long firstFrame(long segment) {
        return startOf(segment) + Blocks.BLOCK_BYTES;
    }

    /** Bytes at a segment's start that appends may use though no segment behind it is ready. */
    public int frontBytes() {
        return segmentBytes / FRONT_SHARE;
    }

    /** Whether a position lies in its segment's front. */
    public boolean isInFront(long lsn) {
        return offsetOf(lsn) < frontBytes();
    }

    /** The most that the records of one frame can take: it fits a segment, and the buffer in which it is put together. */
    public int maxRecordBytes(int bufferBytes) {
        return Math.min(bufferBytes, remaining(firstFrame(0))) - FrameLayout.HEADER_BYTES;
    }

    /** Bytes from a position to its segment's end. */
    public int remaining(long lsn) {
        return segmentBytes - offsetOf(lsn);
    }

    /** Where the frame behind one that ends here can start: the next block, in the next segment if this one is full. */
    public long positionAfter(long end) {
        long block = Blocks.roundUp(end);
        return offsetOf(block) == 0 ? firstFrame(segmentOf(block)) : block;
    }
}
