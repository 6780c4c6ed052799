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
    /** Of text that never ends where a character ends. */
    private static final int MOST_BYTES = 4 * 1024 * 1024;

    private final DocumentInfo info;
    private final int enoughBytes;
    private final boolean json;
    private final long from;
    private final ByteBuf bytes = ByteBufAllocator.DEFAULT.ioBuffer();
    private boolean first;
    private boolean text;
    private long next;
    private int wholeBytes;
    private long wholeNext;

    /** An empty slice, of values from a sequence to the tail that {@code info} has; perhaps the first of a body. */
    SliceReader(DocumentInfo info, int enoughBytes, long from, boolean first) {
        this.info = info;
        this.enoughBytes = enoughBytes;
        this.json = info.attributes().isJson();
        this.next = from;
        this.from = from;
        this.wholeNext = from;
        this.first = first;
        if (json && first) {
            bytes.writeByte('[');
        }
    }

    /** Reads on, within bounds, as long as no value that was read ends where a character of UTF-8 ends. */
    void readWholeCharacters() {
        text = true;
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
        if (Utf8.endsWhole(bytes)) {
            wholeBytes = bytes.readableBytes();
            wholeNext = next;
        }
        return bytes.readableBytes() < enoughBytes || text && !hasWhole() && bytes.readableBytes() < MOST_BYTES;
    }

    /** Whether what was read ends where a character of UTF-8 ends. */
    boolean endsWhole() {
        return wholeNext == next;
    }

    /** Whether one of the values that were read ends so. */
    boolean hasWhole() {
        return wholeNext > from;
    }

    /** Gives up the values behind the last one that ends so; perhaps all of them. */
    void cutToWhole() {
        bytes.writerIndex(bytes.readerIndex() + wholeBytes);
        next = wholeNext;
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
