package io.caravan.bench.patterns;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** What is written: bytes that no disk can make smaller, at an address that direct I/O takes. */
final class SomeBytes {
    /** Where direct I/O wants memory, positions and lengths to begin. */
    static final int BLOCK_BYTES = 4096;

    private static final long SEED = 1;

    private SomeBytes() {}

    static byte[] array(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(SEED).nextBytes(bytes);
        return bytes;
    }

    static ByteBuffer buffer(int length) {
        // A block more than what alignment may cut off at the start, as it cuts the end to whole blocks as well.
        ByteBuffer aligned = ByteBuffer.allocateDirect(length + 2 * BLOCK_BYTES).alignedSlice(BLOCK_BYTES);
        return aligned.put(array(length)).flip().slice();
    }
}
