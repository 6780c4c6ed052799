package io.caravan.server.protocol.http;

import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Collects values of a document in the form of a response body: concatenated, or, for a JSON document, as elements of
 * an array. Stops after the first value that makes the slice large enough. Used on a reading thread.
 */
final class SliceReader implements DocumentReader {
    /** The maximum size of a slice of text in which no value ends with a complete character. */
    private static final int MOST_BYTES = 4 * 1024 * 1024;

    private static final int MAX_INCOMPLETE_BYTES = 3;

    private final DocumentInfo info;
    private final int enoughBytes;
    private final boolean json;
    private final long from;
    /** The collected bytes, which the owner of the slice releases. */
    final ByteBuf bytes = ByteBufAllocator.DEFAULT.ioBuffer();

    private final boolean text;
    private boolean first;
    /** The sequence after the last collected value. */
    long next;

    private int wholeBytes;
    private long wholeNext;

    /**
     * Creates a slice for values from {@code from} up to, but not including, {@code info.nextSequence()}. {@code first}
     * means that this is the first slice of a body. With {@code text}, the slice continues, within a limit, until a
     * value ends with a complete UTF-8 character.
     */
    SliceReader(DocumentInfo info, int enoughBytes, long from, boolean first, boolean text) {
        this.info = info;
        this.enoughBytes = enoughBytes;
        this.json = info.attributes().isJson();
        this.next = from;
        this.from = from;
        this.wholeNext = from;
        this.first = first;
        this.text = text;
        if (json && first) {
            bytes.writeByte('[');
        }
    }

    @Override
    public boolean next(long sequence, ByteBuffer value) {
        if (json && !first) {
            bytes.writeByte(',');
        }
        first = false;
        bytes.writeBytes(value);
        next = sequence + 1;
        if (text && endsWithWholeCharacter(bytes)) {
            wholeBytes = bytes.readableBytes();
            wholeNext = next;
        }
        return bytes.readableBytes() < enoughBytes || text && !hasWhole() && bytes.readableBytes() < MOST_BYTES;
    }

    private boolean hasWhole() {
        return wholeNext > from;
    }

    /**
     * Removes the values of a text after the last one that ends with a complete character. Returns whether they are
     * held back, because a later value may complete the character. If no later value exists or can follow, and no value
     * ends with a complete character, the values stay.
     */
    boolean cutToWhole() {
        boolean held = text
                && wholeNext != next
                && next == info.nextSequence()
                && !info.attributes().closed();
        if (held || text && hasWhole()) {
            bytes.writerIndex(bytes.readerIndex() + wholeBytes);
            next = wholeNext;
        }
        return held;
    }

    /** Ends the body after its last value: closes the array if the document is JSON. */
    void end() {
        if (json) {
            bytes.writeByte(']');
        }
    }

    /** Whether the text ends with a complete UTF-8 character. Bytes that are not UTF-8 count as complete. */
    static boolean endsWithWholeCharacter(ByteBuf text) {
        int bytes = Math.min(MAX_INCOMPLETE_BYTES, text.readableBytes());
        int from = text.writerIndex() - bytes;
        if (bytes == 0 || text.getByte(from + bytes - 1) >= 0) {
            return true;
        }
        ByteBuffer end = text.nioBuffer(from, bytes);
        // The decoder replaces malformed bytes, but leaves an incomplete character in its input.
        StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPLACE)
                .decode(end, CharBuffer.allocate(bytes), false);
        return !end.hasRemaining();
    }
}
