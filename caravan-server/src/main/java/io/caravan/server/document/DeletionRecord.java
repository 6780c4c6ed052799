package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;

/**
 * The deletion of a document that may have a copy in the archive.
 *
 * <p>Encoded as a version (1) in one byte, the numbers in this order in 8 bytes each, big-endian, and the name.
 *
 * @param incarnation the incarnation in the document's {@link ArchiveMark}
 * @param nextSequence the sequence that the document's next value would have had
 * @param deletedAtMillis time of the deletion, in milliseconds since 1970
 */
public record DeletionRecord(long incarnation, long nextSequence, long deletedAtMillis, DocumentName name) {
    private static final byte VERSION = 1;
    private static final int NAME = Byte.BYTES + 3 * Long.BYTES;

    byte[] encode() {
        byte[] numbersAndName = Attribute.encode(name.toBytes(), incarnation, nextSequence, deletedAtMillis);
        return ByteBuffer.allocate(Byte.BYTES + numbersAndName.length)
                .put(VERSION)
                .put(numbersAndName)
                .array();
    }

    /** Decodes a deletion; throws {@link IllegalArgumentException} if the bytes are not in this version's format. */
    static DeletionRecord decode(ByteBuffer encoded) {
        ByteBuffer bytes = encoded.duplicate();
        if (bytes.remaining() <= NAME || bytes.get() != VERSION) {
            throw new IllegalArgumentException("is not a deletion of version " + VERSION);
        }
        return new DeletionRecord(
                bytes.getLong(), bytes.getLong(), bytes.getLong(), DocumentName.of(Attribute.bytes(bytes)));
    }
}
