package io.caravan.format;

import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreVersionException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The layout of the header of log segments, heap segments, checkpoints, and the file that records the number of shards,
 * as described in docs/internals/file-format.md.
 *
 * <p>A header is valid if, in this order: (1) the magic is that of the kind; (2) the CRC is correct; (3) this release
 * reads the version; (4) the store id is this store's; (5) the number is that in the file's name. The offsets are the
 * same in every version, so that a release can distinguish a newer file from a damaged file.
 */
public final class FileHeader {
    public static final int MAGIC = 0;
    public static final int VERSION = MAGIC + Long.BYTES;
    public static final int CRC = VERSION + Integer.BYTES;
    public static final int STORE_ID = CRC + Integer.BYTES;
    public static final int NUMBER = STORE_ID + Long.BYTES;
    public static final int SEGMENT_BYTES = NUMBER + Long.BYTES;
    public static final int BYTES = SEGMENT_BYTES + Long.BYTES;

    public static final int OLDEST_VERSION = 3;
    public static final int NEWEST_VERSION = 4;

    private static final String ADVICE = "; restore the directory from a backup";

    private FileHeader() {}

    public record Fields(long storeId, long number, long segmentBytes) {}

    /**
     * Writes a header to the start of the buffer at absolute indexes.
     *
     * @param letters the eight letters of the file's kind
     */
    public static void put(ByteBuffer buffer, String letters, Fields fields) {
        buffer.putLong(MAGIC, magic(letters));
        buffer.putInt(VERSION, NEWEST_VERSION);
        buffer.putLong(STORE_ID, fields.storeId());
        buffer.putLong(NUMBER, fields.number());
        buffer.putLong(SEGMENT_BYTES, fields.segmentBytes());
        buffer.putInt(CRC, checksum(buffer));
    }

    private static long magic(String letters) {
        return ByteBuffer.wrap(letters.getBytes(StandardCharsets.US_ASCII))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    private static int checksum(ByteBuffer buffer) {
        ByteBuffer covered = ByteBuffer.allocate(BYTES - Integer.BYTES);
        covered.put(0, buffer, 0, CRC);
        covered.put(CRC, buffer, STORE_ID, BYTES - STORE_ID);
        return Checksums.crc32c(covered.array());
    }

    /**
     * Reads a header at the start of the buffer, and checks conditions 1 to 3.
     *
     * @param letters the eight letters of the file's kind
     * @param path the file, for messages
     */
    public static Fields get(ByteBuffer buffer, String letters, String path) {
        if (buffer.limit() < BYTES || buffer.getLong(MAGIC) != magic(letters)) {
            throw new CorruptStoreException(path, MAGIC, "does not start with " + letters + ADVICE);
        }
        if (buffer.getInt(CRC) != checksum(buffer)) {
            throw new CorruptStoreException(path, CRC, "the header's checksum is wrong" + ADVICE);
        }
        int version = buffer.getInt(VERSION);
        if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
            throw new StoreVersionException(path, version, OLDEST_VERSION, NEWEST_VERSION);
        }
        return new Fields(buffer.getLong(STORE_ID), buffer.getLong(NUMBER), buffer.getLong(SEGMENT_BYTES));
    }

    /** Checks that the header at the start of the buffer is valid. */
    public static void check(ByteBuffer buffer, String letters, Fields expected, String path) {
        Fields found = get(buffer, letters, path);
        if (found.storeId() != expected.storeId()) {
            throw new StoreDirectoryException(path + " belongs to store " + Long.toHexString(found.storeId())
                    + ", not to this one, " + Long.toHexString(expected.storeId()) + ADVICE);
        }
        if (found.number() != expected.number() || found.segmentBytes() != expected.segmentBytes()) {
            throw new CorruptStoreException(
                    path,
                    NUMBER,
                    "is number " + found.number() + " with segments of " + found.segmentBytes()
                            + " bytes, expected number " + expected.number() + " with " + expected.segmentBytes()
                            + ADVICE);
        }
    }
}
