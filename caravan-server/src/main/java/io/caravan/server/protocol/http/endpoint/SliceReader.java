package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.DocumentReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * Collects values of a document in the form of a response body: concatenated, or, for a JSON document, as elements of
 * an array. Stops after the value that makes it large enough. Used on the reading thread.
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
     * @param first whether it is the first one in the body
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

    /** Ends a body that has no more values. */
    void end() {
        if (json) {
            bytes.writeByte(']');
        }
    }

    /** Sequence of the next value. */
    long nextSequence() {
        return next;
    }

    /** The collected bytes; the caller releases them. */
    ByteBuf bytes() {
        return bytes;
    }
}
