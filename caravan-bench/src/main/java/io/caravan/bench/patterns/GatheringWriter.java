package io.caravan.bench.patterns;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Gathers writes in memory and passes on a batch as one write when it is forced, like the store's log. */
final class GatheringWriter implements Writer {
    private final ChannelWriter batches;
    private final ByteBuffer batch = SomeBytes.buffer(Forcing.BATCH_BYTES);
    private final byte[] bytes;

    /**
     * Creates a gathering writer.
     *
     * @param batches the writer of the batches
     */
    GatheringWriter(ChannelWriter batches, int writeBytes) {
        this.batches = batches;
        this.bytes = SomeBytes.array(writeBytes);
    }

    @Override
    public void write() {
        batch.put(bytes);
    }

    /** A partial batch is written in full, like a block. */
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
