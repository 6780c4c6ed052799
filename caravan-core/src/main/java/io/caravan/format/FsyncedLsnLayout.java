package io.caravan.format;

import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The layout of the file that records the position up to which the log was fsynced, as described in
 * docs/internals/file-format.md.
 *
 * <p>The operating system generates the boot id when it starts. A different boot id means that the system has
 * restarted. The page cache then no longer contains unfsynced log data, so everything readable is on the disk. The
 * reader of an invalid file makes the same assumption.
 */
public final class FsyncedLsnLayout {
    public static final int STORE_ID = 0;
    public static final int BOOT_ID = STORE_ID + Long.BYTES;
    public static final int FORCED_LSN = BOOT_ID + 2 * Long.BYTES;
    public static final int CRC = FORCED_LSN + Long.BYTES;
    public static final int BYTES = CRC + Integer.BYTES;

    private FsyncedLsnLayout() {}

    /** Writes the contents of the file to the buffer at absolute indexes. */
    public static void put(ByteBuffer buffer, long storeId, UUID bootId, long forcedLsn) {
        buffer.putLong(STORE_ID, storeId);
        buffer.putLong(BOOT_ID, bootId.getMostSignificantBits());
        buffer.putLong(BOOT_ID + Long.BYTES, bootId.getLeastSignificantBits());
        buffer.putLong(FORCED_LSN, forcedLsn);
        buffer.putInt(CRC, Checksums.crc32c(buffer, 0, CRC));
    }

    /**
     * Returns the LSN up to which the log is known to be on disk, or {@link Long#MAX_VALUE} if all readable data is on
     * disk.
     */
    public static long lsn(ByteBuffer buffer, long storeId, UUID bootId) {
        boolean inMemory = buffer.getInt(CRC) == Checksums.crc32c(buffer, 0, CRC)
                && buffer.getLong(STORE_ID) == storeId
                && buffer.getLong(BOOT_ID) == bootId.getMostSignificantBits()
                && buffer.getLong(BOOT_ID + Long.BYTES) == bootId.getLeastSignificantBits();
        return inMemory ? buffer.getLong(FORCED_LSN) : Long.MAX_VALUE;
    }
}
