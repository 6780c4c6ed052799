package io.caravan.format;

import io.caravan.StoreConfig;

/**
 * Computes positions and sizes in blocks of 4 KiB. A block that contains an acknowledged frame is never written again.
 */
public final class Blocks {
    public static final int BLOCK_BYTES = StoreConfig.BLOCK_BYTES;

    /** Maximum size of a segment, which bounds the memory that a reader allocates. */
    public static final int MAX_SEGMENT_BYTES = 1 << 30;

    private Blocks() {}

    /** Whether a segment can have this size, which must leave space for a header and at least one block after it. */
    public static boolean isSegmentSize(long bytes) {
        return bytes >= 2 * BLOCK_BYTES && bytes <= MAX_SEGMENT_BYTES && bytes % BLOCK_BYTES == 0;
    }

    /** Returns the start of the first block at or after this position. */
    public static long roundUp(long bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }

    public static int roundUp(int bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }
}
