package io.caravan.bench.patterns;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Gathers writes in memory, and hands on a batch as one write when it is forced: as the store's log does. */
final class GatheringWriter implements Writer {
    private final ChannelWriter batches;
    private final ByteBuffer batch = SomeBytes.buffer(Forcing.BATCH_BYTES);
    private final byte[] bytes;

    /**
     * Gathers.
     *
     * @param batches writes of a batch each
     */
    GatheringWriter(ChannelWriter batches, int writeBytes) {
        this.batches = batches;
        this.bytes = SomeBytes.array(writeBytes);
    }

    @Override
    public void write() {
        batch.put(bytes);
    }

    /** What is not full is written whole, as blocks are. */
    @Override
    public void force() throws IOException {
        if (batch.position() > 0) {
            batches.write(batch.clear());
            batches.force();
            batch.clear();
        }
    }

    @Override
    public void close() throws IOException {
        batches.close();
    }
}
