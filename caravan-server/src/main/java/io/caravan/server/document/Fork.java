package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;

/**
 * The point at which a document was forked from another one. The fork shares the source's values before {@code
 * sequence}, which stay in the source's list, and has its own values from there on. While a source has forks, it cannot
 * be trimmed and keeps its values.
 *
 * <p>Encoded as sequence, part and first sequence, in 8 bytes each, and the source's name.
 *
 * @param source the source's name
 * @param sequence sequence of the first value that the fork does not share
 * @param part requested additional data: messages of a JSON document, which {@code sequence} already includes, or bytes
 *     of the next value, which are then the fork's first own value
 * @param firstSequence sequence of the first shared value that the fork retains
 */
record Fork(DocumentName source, long sequence, long part, long firstSequence) {

    byte[] encode() {
        byte[] name = source.toBytes();
        return ByteBuffer.allocate(3 * Long.BYTES + name.length)
                .putLong(sequence)
                .putLong(part)
                .putLong(firstSequence)
                .put(name)
                .array();
    }

    static Fork decode(byte[] encoded) {
        ByteBuffer bytes = ByteBuffer.wrap(encoded);
        long sequence = bytes.getLong();
        long part = bytes.getLong();
        long firstSequence = bytes.getLong();
        byte[] name = new byte[bytes.remaining()];
        bytes.get(name);
        return new Fork(DocumentName.of(name), sequence, part, firstSequence);
    }

    Fork withFirstSequence(long first) {
        return new Fork(source, sequence, part, first);
    }
}
