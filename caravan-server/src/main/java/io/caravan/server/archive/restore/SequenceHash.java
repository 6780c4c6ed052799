package io.caravan.server.archive.restore;

import io.caravan.server.archive.object.Digests;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * A hash of a document's values in a range of sequences, to compare two copies without keeping both in memory. Values
 * outside the range are ignored. Not thread-safe.
 */
final class SequenceHash {
    private final long from;
    private final long to;
    private final MessageDigest digest = Digests.sha256();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);

    /** Creates a hash of the values with sequences from {@code from}, inclusive, to {@code to}, exclusive. */
    SequenceHash(long from, long to) {
        this.from = from;
        this.to = to;
    }

    /** Adds the next value, without consuming its bytes. */
    void add(long sequence, ByteBuffer value) {
        if (sequence >= from && sequence < to) {
            digest.update(number.clear().putLong(value.remaining()).flip());
            digest.update(value.duplicate());
        }
    }

    /** Returns the hash of all values so far, in hexadecimal digits; no value can be added afterwards. */
    String finish() {
        return HexFormat.of().formatHex(digest.digest());
    }
}
