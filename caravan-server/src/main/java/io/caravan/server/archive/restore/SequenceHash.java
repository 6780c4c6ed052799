package io.caravan.server.archive.restore;

import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.Digests;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.Predicate;

/**
 * A hash of a document's values in a range of sequences, to compare two copies without keeping both in memory. Values
 * outside the range are only counted. Not thread-safe.
 */
final class SequenceHash implements DocumentReader {
    private final long from;
    private final long to;
    private final Predicate<DocumentInfo> reads;
    private final MessageDigest digest = Digests.sha256();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    private long count;
    private long bytes;

    /**
     * Creates a hash of the values from {@code from} to before {@code to}.
     *
     * @param reads decides, from the document's state when the read begins, whether to read it
     */
    SequenceHash(long from, long to, Predicate<DocumentInfo> reads) {
        this.from = from;
        this.to = to;
        this.reads = reads;
    }

    @Override
    public boolean begin(DocumentInfo info) {
        return reads.test(info);
    }

    @Override
    public boolean next(long sequence, ByteBuffer value) {
        count++;
        bytes += value.remaining();
        if (sequence >= from && sequence < to) {
            digest.update(number.clear().putLong(value.remaining()).flip());
            digest.update(value.duplicate());
        }
        return true;
    }

    /** Adds the remaining values of a snapshot. */
    void addAll(SnapshotReader snapshot) {
        while (snapshot.next()) {
            next(snapshot.sequence(), snapshot.value());
        }
    }

    long count() {
        return count;
    }

    long bytes() {
        return bytes;
    }

    /** Returns the hash of all values so far, in hexadecimal digits; no value can be added afterwards. */
    String finish() {
        return HexFormat.of().formatHex(digest.digest());
    }
}
