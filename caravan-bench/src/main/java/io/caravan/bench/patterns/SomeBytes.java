package io.caravan.bench.patterns;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** The bytes to write: incompressible, and aligned for direct I/O. */
final class SomeBytes {
    /** Alignment of memory, positions and lengths for direct I/O. */
    static final int BLOCK_BYTES = 4096;

    private static final long SEED = 1;

    private SomeBytes() {}

    static byte[] array(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(SEED).nextBytes(bytes);
        return bytes;
    }

    static ByteBuffer buffer(int length) {
        // Two extra blocks, because alignment may cut off part of a block at either end.
        ByteBuffer aligned = ByteBuffer.allocateDirect(length + 2 * BLOCK_BYTES).alignedSlice(BLOCK_BYTES);
        return aligned.put(array(length)).flip().slice();
    }
}
