package io.caravan.server.cli.carry;

import java.util.zip.CRC32C;

/**
 * What the values of a stream come to. Of a stream of JSON the values are compared one by one; of any other all their
 * bytes together, because where one ends and the next begins is up to the server. For one thread.
 */
final class StreamSum {
    private final boolean json;
    private final CRC32C crc = new CRC32C();
    private long values;
    private long bytes;

    StreamSum(boolean json) {
        this.json = json;
    }

    /** Adds the next value. */
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

    /** Number of values so far. */
    long values() {
        return values;
    }

    /** Their lengths together. */
    long bytes() {
        return bytes;
    }

    /** Whether both streams have the same content. */
    boolean isSame(StreamSum other) {
        return bytes == other.bytes && crc.getValue() == other.crc.getValue() && (!json || values == other.values);
    }
}
