package io.caravan.format;

import io.caravan.StoreConfig;

/** Arithmetic of 4 KiB blocks: a block that holds an acknowledged frame is never written again. */
public final class Blocks {
    public static final int BLOCK_BYTES = StoreConfig.BLOCK_BYTES;

    private Blocks() {}

    /** The first multiple of a block at or after this. */
    public static long roundUp(long bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }

    /** The same for sizes that fit an int. */
    public static int roundUp(int bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }
}
