package io.caravan.format;

import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The file that says up to where the log was forced.
 *
 * <pre>
 *   0                   4                   8                  12                  16
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | store id                              | boot id                               |
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | boot id                               | forced LSN                            |
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | CRC-32C of 0-31   |
 *   +-------------------+
 * </pre>
 *
 * <p>The boot id is drawn by the operating system when it starts. If it is another one, nothing is left in memory of the
 * log that the file's writer had not forced: all that can be read of it is on the disk. Nor is it, if the file says nothing.
 */
public final class ForcedLsnLayout {
    public static final int STORE_ID = 0;
    public static final int BOOT_ID = STORE_ID + Long.BYTES;
    public static final int FORCED_LSN = BOOT_ID + 2 * Long.BYTES;
    public static final int CRC = FORCED_LSN + Long.BYTES;
    public static final int BYTES = CRC + Integer.BYTES;

    private ForcedLsnLayout() {}

    /** Writes the file's bytes, absolutely. */
    public static void put(ByteBuffer buffer, long storeId, UUID bootId, long forcedLsn) {
        buffer.putLong(STORE_ID, storeId);
        buffer.putLong(BOOT_ID, bootId.getMostSignificantBits());
        buffer.putLong(BOOT_ID + Long.BYTES, bootId.getLeastSignificantBits());
        buffer.putLong(FORCED_LSN, forcedLsn);
        buffer.putInt(CRC, Checksums.crc32c(buffer, 0, CRC));
    }

    /** Up to where what can be read of a store's log is on the disk: {@link Long#MAX_VALUE} for all of it. */
    public static long lsn(ByteBuffer buffer, long storeId, UUID bootId) {
        boolean inMemory = buffer.getInt(CRC) == Checksums.crc32c(buffer, 0, CRC)
                && buffer.getLong(STORE_ID) == storeId
                && buffer.getLong(BOOT_ID) == bootId.getMostSignificantBits()
                && buffer.getLong(BOOT_ID + Long.BYTES) == bootId.getLeastSignificantBits();
        return inMemory ? buffer.getLong(FORCED_LSN) : Long.MAX_VALUE;
    }
}
