package io.caravan.server.document;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Keeps changes from a document that is being moved. Stored with the document, as the holder in 8 bytes, big-endian, and
 * the text of {@code to}.
 *
 * @param holder distinguishes runs of a move: only the last one that has fenced the document may go on with it
 * @param to where the document goes
 */
record Fence(long holder, Whereabouts to) {
    byte[] encode() {
        byte[] address = to.text().getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(Long.BYTES + address.length)
                .putLong(holder)
                .put(address)
                .array();
    }

    static Fence decode(byte[] encoded) {
        ByteBuffer bytes = ByteBuffer.wrap(encoded);
        long holder = bytes.getLong();
        return new Fence(
                holder,
                Whereabouts.parse(StandardCharsets.US_ASCII.decode(bytes).toString()));
    }
}
