package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.SequenceRange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * Collects values of a document in the form of a response body: concatenated, or, for a JSON document, as elements of
 * an array. Stops after the value that makes it large enough. Used on the reading thread.
 */
final class SliceReader implements DocumentReader {
    private final DocumentInfo info;
    private final int enoughBytes;
    private final boolean json;
    private final ByteBuf bytes = ByteBufAllocator.DEFAULT.ioBuffer();
    private boolean first;
    private long next;

    /** An empty slice, of values from a sequence to the tail that {@code info} has; perhaps the first of a body. */
    SliceReader(DocumentInfo info, int enoughBytes, long from, boolean first) {
        this.info = info;
        this.enoughBytes = enoughBytes;
        this.json = info.attributes().isJson();
        this.next = from;
        this.first = first;
        if (json && first) {
            bytes.writeByte('[');
        }
    }

    /** Reads; returns false when there was nothing, because the values were trimmed or the document deleted. */
    boolean read(ReadRequest request) {
        SequenceRange rest = new SequenceRange(next, info.nextSequence());
        request.documents()
                .read(
                        request.name(),
                        now -> now.id() == info.id() && now.firstSequence() <= rest.from() ? rest : SequenceRange.EMPTY,
                        this);
        return next > rest.from();
    }

    static DocumentException changedMeanwhile(DocumentName name) {
        return new DocumentException(
                DocumentException.Reason.CHANGED_MEANWHILE, name, "was trimmed or deleted while it was being read");
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

    long nextSequence() {
        return next;
    }

    /** The collected bytes; the caller releases them. */
    ByteBuf bytes() {
        return bytes;
    }
}
