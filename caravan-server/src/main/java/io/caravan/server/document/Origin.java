package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;

/**
 * The document of another store that a document is a copy of.
 *
 * <p>Encoded as {@code brought} in 8 bytes, big-endian, then the identity as text.
 *
 * @param identity the {@link DocumentService#identity} of the other document
 * @param brought the values before this sequence came from there, those that were trimmed since included
 */
public record Origin(String identity, long brought) {
    /** Maximum length of an identity, in characters. */
    static final int MAX_CHARS = 64;

    byte[] encode() {
        byte[] text = identity.getBytes(UTF_8);
        return ByteBuffer.allocate(Long.BYTES + text.length)
                .putLong(brought)
                .put(text)
                .array();
    }

    static Origin decode(byte[] encoded) {
        long brought = ByteBuffer.wrap(encoded).getLong();
        return new Origin(new String(encoded, Long.BYTES, encoded.length - Long.BYTES, UTF_8), brought);
    }
}
