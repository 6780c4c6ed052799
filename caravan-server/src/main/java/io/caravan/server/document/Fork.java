package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;

/**
 * Where a document was forked off another one: it has the source's values before {@code sequence}, which stay where they
 * are, and its own from there on. The source keeps its values, trimmed or deleted by nobody, while it has forks.
 *
 * <p>Encoded as sequence, part and first sequence, in 8 bytes each, and the source's name.
 *
 * @param source the source's name
 * @param sequence sequence of the first value that the source and the fork do not share
 * @param part what was asked for beyond {@code sequence}: messages when the document is JSON, in which case {@code
 *     sequence} is already past them, or bytes of the next value, which are then the fork's first own value
 * @param firstSequence sequence of the first value that the fork retains, as far as it has them from the source
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
