package io.caravan.server.archive.restore;

import io.caravan.server.archive.format.SnapshotReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Iterates over a snapshot's values in parts of bounded size, each small enough for one write. Not thread-safe. */
final class SnapshotParts {
    /** Maximum total size of the values in a part, unless it has only one value. A store's log buffer is larger. */
    static final int MAX_BYTES = 1024 * 1024;

    /** The approximate memory overhead of each value: a frame and an array. */
    private static final int OVERHEAD_BYTES = 64;

    private final SnapshotReader reader;
    /** Whether the reader is at a value that has not been returned yet. */
    private boolean more;

    SnapshotParts(SnapshotReader reader) {
        this.reader = reader;
        this.more = reader.next();
    }

    /** Returns the approximate memory use of this number of values. */
    static long bytes(long count, long valueBytes) {
        return valueBytes + count * OVERHEAD_BYTES;
    }

    /** Returns the total length of these values. */
    static long bytes(List<byte[]> values) {
        return values.stream().mapToLong(value -> value.length).sum();
    }

    /** Whether all values have been returned, and the snapshot has been verified. */
    boolean ended() {
        return !more;
    }

    /** Returns the next values; an empty list at the end. */
    List<byte[]> next() {
        List<byte[]> part = new ArrayList<>();
        long bytes = 0;
        while (more) {
            ByteBuffer value = reader.value();
            bytes += bytes(1, value.remaining());
            if (bytes > MAX_BYTES && !part.isEmpty()) {
                return part;
            }
            byte[] copy = new byte[value.remaining()];
            value.get(copy);
            part.add(copy);
            more = reader.next();
        }
        return part;
    }

    /** Skips the values before this sequence. */
    void skipTo(long sequence) {
        while (more && reader.sequence() < sequence) {
            more = reader.next();
        }
    }
}
