package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;

/**
 * The document of another store of which a document is a copy.
 *
 * <p>Encoded as {@code copiedTo} in 8 bytes, big-endian, then the identity as text.
 *
 * @param identity the {@link DocumentService#identity} of the other document
 * @param copiedTo the values before this sequence were copied from there, including those that have since been trimmed
 */
public record Origin(String identity, long copiedTo) {
    /** Maximum length of an identity, in characters. */
    static final int MAX_CHARS = 64;

    byte[] encode() {
        byte[] text = identity.getBytes(UTF_8);
        return ByteBuffer.allocate(Long.BYTES + text.length)
                .putLong(copiedTo)
                .put(text)
                .array();
    }

    static Origin decode(byte[] encoded) {
        long copiedTo = ByteBuffer.wrap(encoded).getLong();
        return new Origin(new String(encoded, Long.BYTES, encoded.length - Long.BYTES, UTF_8), copiedTo);
    }
}
