package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;

/**
 * The deletion of a document that may be archived.
 *
 * <p>Encoded as a version (1) in one byte, the numbers in this order in 8 bytes each, big-endian, and the name.
 *
 * @param incarnation the incarnation in the document's {@link ArchiveMark}
 * @param nextSequence the sequence that the document's next value would have had
 * @param deletedAtMillis time of the deletion, in milliseconds since 1970
 */
public record Deletion(DocumentName name, long incarnation, long nextSequence, long deletedAtMillis) {
    private static final byte VERSION = 1;
    private static final int NAME = Byte.BYTES + 3 * Long.BYTES;

    byte[] encode() {
        byte[] bytes = name.toBytes();
        return ByteBuffer.allocate(NAME + bytes.length)
                .put(VERSION)
                .putLong(incarnation)
                .putLong(nextSequence)
                .putLong(deletedAtMillis)
                .put(bytes)
                .array();
    }

    /** Decodes a deletion; throws {@link IllegalArgumentException} when the bytes are not one of this version. */
    static Deletion decode(ByteBuffer encoded) {
        if (encoded.remaining() <= NAME || encoded.get(encoded.position()) != VERSION) {
            throw new IllegalArgumentException("is not a deletion of version " + VERSION);
        }
        ByteBuffer bytes = encoded.duplicate();
        bytes.get();
        long incarnation = bytes.getLong();
        long nextSequence = bytes.getLong();
        long deletedAtMillis = bytes.getLong();
        byte[] name = new byte[bytes.remaining()];
        bytes.get(name);
        return new Deletion(DocumentName.of(name), incarnation, nextSequence, deletedAtMillis);
    }
}
