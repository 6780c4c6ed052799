package io.caravan.server.archive.restore;

import io.caravan.server.archive.format.SnapshotReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Goes through a snapshot's values in parts of bounded size, each as much as one write takes. For one thread. */
final class SnapshotParts {
    /** What the values of a part take together at most, unless it is a single one: a store's log buffer holds more. */
    static final int MAX_BYTES = 1024 * 1024;

    /** Counted for each value: what a frame and an array take beside its bytes, about. */
    private static final int OVERHEAD_BYTES = 64;

    private final SnapshotReader reader;
    /** Whether the reader is at a value that is in no part yet. */
    private boolean more;

    SnapshotParts(SnapshotReader reader) {
        this.reader = reader;
        this.more = reader.next();
    }

    /** What so many values take in memory, about. */
    static long bytes(long count, long valueBytes) {
        return valueBytes + count * OVERHEAD_BYTES;
    }

    /** The lengths of these values together. */
    static long bytes(List<byte[]> values) {
        return values.stream().mapToLong(value -> value.length).sum();
    }

    /** Whether all values have been in a part, and the snapshot was found to be what was written. */
    boolean ended() {
        return !more;
    }

    /** The next values; none when there are none. */
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

    /** Passes over the values before this sequence. */
    void skipTo(long sequence) {
        while (more && reader.sequence() < sequence) {
            more = reader.next();
        }
    }
}
