package io.caravan.server.cli.migration;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Counts a document's values, and computes a checksum of them, to compare two copies. Not thread-safe. */
final class DocumentChecksum {
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    private final boolean bounded;
    private long count;
    private long bytes;

    /**
     * Starts a checksum over values.
     *
     * @param bounded whether the boundaries between the values count; otherwise, only the concatenation of the values
     *     counts
     */
    DocumentChecksum(boolean bounded) {
        this.bounded = bounded;
    }

    void value(byte[] value) {
        if (bounded) {
            crc.update(number.clear().putLong(value.length).flip());
        }
        crc.update(value);
        count++;
        bytes += value.length;
    }

    boolean isBounded() {
        return bounded;
    }

    long count() {
        return count;
    }

    long bytes() {
        return bytes;
    }

    /** Whether both checksums cover the same content. They must have been started in the same way. */
    boolean isSame(DocumentChecksum other) {
        return bytes == other.bytes && crc.getValue() == other.crc.getValue() && (!bounded || count == other.count);
    }
}
