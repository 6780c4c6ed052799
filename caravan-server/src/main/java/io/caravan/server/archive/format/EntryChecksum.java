package io.caravan.server.archive.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** The checksum of a value in a snapshot, which a value of another sequence does not have. Not for several threads. */
final class EntryChecksum {
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer place = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

    /** Of the remaining bytes, which stay remaining. */
    int of(long sequence, ByteBuffer value) {
        crc.reset();
        crc.update(place.putLong(0, sequence).array());
        crc.update(value.duplicate());
        return (int) crc.getValue();
    }
}
