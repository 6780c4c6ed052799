package io.caravan.server.cli.migration;

import java.util.zip.CRC32C;

/**
 * A checksum of a stream's values. A JSON stream is compared value by value. For any other stream only the concatenated
 * bytes count, because the server chooses the boundaries between values. Not thread-safe.
 */
final class StreamChecksum {
    private final boolean json;
    private final CRC32C crc = new CRC32C();
    private long values;
    private long bytes;

    StreamChecksum(boolean json) {
        this.json = json;
    }

    void add(byte[] value) {
        if (json) {
            crc.update(value.length >>> 24);
            crc.update(value.length >>> 16);
            crc.update(value.length >>> 8);
            crc.update(value.length);
        }
        crc.update(value);
        values++;
        bytes += value.length;
    }

    long values() {
        return values;
    }

    long bytes() {
        return bytes;
    }

    /** Whether both streams have the same content. */
    boolean isSame(StreamChecksum other) {
        return bytes == other.bytes && crc.getValue() == other.crc.getValue() && (!json || values == other.values);
    }
}
