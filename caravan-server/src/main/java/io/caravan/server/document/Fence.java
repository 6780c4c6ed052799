package io.caravan.server.document;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Blocks writes to a document that is being moved. Stored with the document, as the holder in 8 bytes, big-endian, and
 * the text of {@code to}.
 *
 * @param holder identifies a run of a move: only the last run that fenced the document may continue the move
 * @param to the server to which the document moves
 */
record Fence(long holder, RedirectTarget to) {
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
                RedirectTarget.parse(StandardCharsets.US_ASCII.decode(bytes).toString()));
    }
}
