package io.caravan.server.document;

import java.nio.ByteBuffer;

/**
 * The state of a document in its last archived generation. Stored with the document, so that it survives a restart.
 *
 * <p>Encoded as the fields in this order, big-endian, 8 bytes each; the hash takes 4.
 *
 * @param incarnation distinguishes this document from earlier and later documents with the same name
 * @param generation the last archived generation; 0 if none exists
 * @param firstSequence sequence of the document's first value
 * @param nextSequence the sequence after the document's last value
 * @param takenAtMillis the time at which the generation was taken, in milliseconds since 1970
 * @param attributesHash the {@link DocumentAttributes#portableHash()} at that time
 */
public record ArchiveMark(
        long incarnation,
        long generation,
        long firstSequence,
        long nextSequence,
        long takenAtMillis,
        int attributesHash) {
    public static ArchiveMark first(long incarnation) {
        return new ArchiveMark(incarnation, 0, 0, 0, 0, 0);
    }

    byte[] encode() {
        byte[] hash = ByteBuffer.allocate(Integer.BYTES).putInt(attributesHash).array();
        return Attribute.encode(hash, incarnation, generation, firstSequence, nextSequence, takenAtMillis);
    }

    static ArchiveMark decode(ByteBuffer bytes) {
        return new ArchiveMark(
                bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getInt());
    }
}
