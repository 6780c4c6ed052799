package io.caravan.engine;

import io.caravan.format.Blocks;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Looks into a segment file whose header nobody vouches for. */
final class SegmentPeek {

    private SegmentPeek() {}

    /** Whether there are only zeros behind the first block, as in a segment that was never written. */
    static boolean emptyBehindHeader(Storage storage, String name) throws IOException {
        try (StoreFile file = storage.open(name)) {
            ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES);
            long position = Blocks.BLOCK_BYTES;
            while (file.read(block.clear(), position) > 0) {
                block.flip();
                while (block.hasRemaining()) {
                    if (block.get() != 0) {
                        return false;
                    }
                }
                position += block.limit();
            }
            return true;
        }
    }
}
