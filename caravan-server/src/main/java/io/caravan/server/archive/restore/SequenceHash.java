package io.caravan.server.archive.restore;

import io.caravan.server.archive.object.Digests;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Hash of the values that a document has from one sequence to another, to compare two copies of it without having both
 * in memory. Values outside of the range are passed over. For one thread.
 */
final class SequenceHash {
    private final long from;
    private final long to;
    private final MessageDigest digest = Digests.sha256();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);

    /** A hash of the values from {@code from} on and before {@code to}. */
    SequenceHash(long from, long to) {
        this.from = from;
        this.to = to;
    }

    /** Takes the next value, whose position stays where it is. */
    void add(long sequence, ByteBuffer value) {
        if (sequence >= from && sequence < to) {
            digest.update(number.clear().putLong(value.remaining()).flip());
            digest.update(value.duplicate());
        }
    }

    /** The hash of all values so far, in hexadecimal digits; nothing can be added then. */
    String finish() {
        return HexFormat.of().formatHex(digest.digest());
    }
}
