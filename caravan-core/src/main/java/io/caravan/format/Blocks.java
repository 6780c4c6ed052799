package io.caravan.format;

import io.caravan.StoreConfig;

/** Arithmetic of 4 KiB blocks: a block that holds an acknowledged frame is never written again. */
public final class Blocks {
    public static final int BLOCK_BYTES = StoreConfig.BLOCK_BYTES;

    /** No segment is longer, so a reader knows how much it may have to allocate. */
    public static final int MAX_SEGMENT_BYTES = 1 << 30;

    private Blocks() {}

    /** Whether a segment can have this size, which must leave room for a header and something behind it. */
    public static boolean isSegmentSize(long bytes) {
        return bytes >= 2 * BLOCK_BYTES && bytes <= MAX_SEGMENT_BYTES && bytes % BLOCK_BYTES == 0;
    }

    /** The start of the first block at or after this position. */
    public static long roundUp(long bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }

    /** The same for sizes that fit an int. */
    public static int roundUp(int bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }
}
