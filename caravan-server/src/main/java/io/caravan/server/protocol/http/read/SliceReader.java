package io.caravan.server.protocol.http.read;

import io.caravan.server.document.DocumentReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * Collects some values of a document as the body of a response has them: one after the other, or, of a JSON document, as
 * elements of an array. Stops after the value with which it has enough. On the reading thread.
 */
final class SliceReader implements DocumentReader {
    private final int enoughBytes;
    private final boolean json;
    private final ByteBuf bytes;
    private boolean first;
    private long next;

    /**
     * Makes an empty slice.
     *
     * @param json whether the document is JSON
     * @param from sequence of the first value
     * @param first whether the body begins with it
     */
    SliceReader(ByteBufAllocator allocator, int enoughBytes, boolean json, long from, boolean first) {
        this.enoughBytes = enoughBytes;
        this.json = json;
        this.bytes = allocator.ioBuffer();
        this.next = from;
        this.first = first;
        if (json && first) {
            bytes.writeByte('[');
        }
    }

    @Override
    public void begin(long count) {}

    @Override
    public boolean next(long sequence, ByteBuffer value) {
        if (json && !first) {
            bytes.writeByte(',');
        }
        first = false;
        bytes.writeBytes(value);
        next = sequence + 1;
        return bytes.readableBytes() < enoughBytes;
    }

    /** The body has no more values. */
    void end() {
        if (json) {
            bytes.writeByte(']');
        }
    }

    /** Sequence of the value that follows. */
    long nextSequence() {
        return next;
    }

    /** What was collected; the caller releases it. */
    ByteBuf bytes() {
        return bytes;
    }
}
