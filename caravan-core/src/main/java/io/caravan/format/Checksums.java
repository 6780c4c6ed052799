package io.caravan.format;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Computes CRC-32C checksums (Castagnoli, RFC 3720 appendix B.4), which processors compute at memory speed. */
public final class Checksums {

    private Checksums() {}

    public static int crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        return (int) crc.getValue();
    }

    /**
     * Returns the checksum of the {@code length} bytes that start at an absolute index. The buffer's position and limit
     * do not change.
     */
    public static int crc32c(ByteBuffer buffer, int index, int length) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.duplicate().limit(index + length).position(index));
        return (int) crc.getValue();
    }
}
