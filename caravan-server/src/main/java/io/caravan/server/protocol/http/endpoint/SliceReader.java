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
 * an array. Stops after the value with which the slice is large enough. Used on a reading thread.
 */
final class SliceReader implements DocumentReader {
    /** The maximum size of a slice of text in which no value ends with a complete character. */
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

    /**
     * Creates a slice for values from a sequence to the end of {@code info}. {@code first} is whether it begins a body.
     */
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

    /** Continues reading, within a limit, until a value ends with a complete UTF-8 character. */
    void readWholeCharacters() {
        text = true;
    }

    /** Reads values. Returns false if there were none, because they were trimmed or the document was deleted. */
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
                DocumentException.Reason.CHANGED, name, "was trimmed or deleted while it was being read");
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

    /** Whether the last value read ends with a complete UTF-8 character. */
    boolean endsWhole() {
        return wholeNext == next;
    }

    /** Whether any value read ends with a complete UTF-8 character. */
    boolean hasWhole() {
        return wholeNext > from;
    }

    /** Removes the values after the last value that ends with a complete character, or all if there is none. */
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

    /** Returns the collected bytes; the caller releases them. */
    ByteBuf bytes() {
        return bytes;
    }
}
