package io.caravan.bench.scaling;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Checksums of consecutive values in memory outside the Java heap, like those in a mapped file. */
final class ValueChecksums {
    private final ByteBuffer memory;
    private final int valueBytes;
    private final CRC32C crc = new CRC32C();

    ValueChecksums(int values, int valueBytes) {
        memory = ByteBuffer.allocateDirect(Math.multiplyExact(values, valueBytes));
        this.valueBytes = valueBytes;
    }

    /** Computes the checksums of this many values. */
    void compute(int first, int count) {
        for (int i = first; i < first + count; i++) {
            crc.reset();
            memory.limit((i + 1) * valueBytes).position(i * valueBytes);
            crc.update(memory);
        }
    }
}
