package io.caravan.server.archive.format;

import io.caravan.server.archive.object.Digests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The format of a snapshot: a header, blocks, and a footer. Numbers are little-endian.
 *
 * <pre>
 *   0                   4                   8                  12                  16
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | magic, the letters CARAVSNP           | version           | CRC-32C of 0..11  |
 *   +-------------------+---------+---------+-------------------+-------------------+
 *   | CRC-32C of what   | name    | attri-  | store                                   \
 *   | follows           | bytes n | butes a |                                         /
 *   +-------------------+---------+---------+-------------------+-------------------+
 *   |                                       | incarnation                           |
 *   +---------------------------------------+---------------------------------------+
 *   | generation                            | epoch                                 |
 *   +---------------------------------------+---------------------------------------+
 *   | first sequence                        | next sequence                         |
 *   +---------------------------------------+---------+---------+-------------------+
 *   | taken at, milliseconds since 1970     | name, attributes ...
 *   +---------------------------------------+-------------------
 *   blocks, one after the other:
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | raw bytes         | stored bytes      | codec             | CRC-32C           | stored bytes ...
 *   +-------------------+-------------------+-------------------+-------------------+
 *   the concatenated raw bytes of all blocks are entries:
 *   +-------------------+-------------------+-------------------
 *   | value bytes       | CRC-32C           | value ...
 *   +-------------------+-------------------+-------------------
 *   footer:
 *   +-------------------+---------------------------------------+
 *   | mark              | count                                 |
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | value bytes                           | SHA-256 of everything before it, 32 bytes ...
 *   +---------------------------------------+-------------------
 * </pre>
 *
 * <p>The header's CRC covers byte 20 to the end of the attributes. A block's CRC covers its first 12 bytes and its
 * stored bytes. An entry's CRC covers its sequence, in 8 bytes, and the value.
 *
 * <p>Entries have consecutive sequences, starting at the first, and continue in the next block when one is full.
 * Magic, version and the CRC after them have the same places in every version, so that a release can distinguish a
 * newer object from a damaged one.
 */
public final class SnapshotLayout {
    public static final int MAGIC = 0;
    public static final int VERSION = MAGIC + Long.BYTES;
    public static final int VERSION_CRC = VERSION + Integer.BYTES;
    public static final int HEADER_CRC = VERSION_CRC + Integer.BYTES;
    public static final int NAME_BYTES = HEADER_CRC + Integer.BYTES;
    public static final int ATTRIBUTES_BYTES = NAME_BYTES + Short.BYTES;
    public static final int STORE = ATTRIBUTES_BYTES + Short.BYTES;
    public static final int INCARNATION = STORE + 2 * Long.BYTES;
    public static final int GENERATION = INCARNATION + Long.BYTES;
    public static final int EPOCH = GENERATION + Long.BYTES;
    public static final int FIRST_SEQUENCE = EPOCH + Long.BYTES;
    public static final int NEXT_SEQUENCE = FIRST_SEQUENCE + Long.BYTES;
    public static final int TAKEN_AT = NEXT_SEQUENCE + Long.BYTES;
    public static final int HEADER_BYTES = TAKEN_AT + Long.BYTES;

    public static final int BLOCK_RAW_BYTES = 0;
    public static final int BLOCK_STORED_BYTES = BLOCK_RAW_BYTES + Integer.BYTES;
    public static final int BLOCK_CODEC = BLOCK_STORED_BYTES + Integer.BYTES;
    public static final int BLOCK_CRC = BLOCK_CODEC + Integer.BYTES;
    public static final int BLOCK_HEADER_BYTES = BLOCK_CRC + Integer.BYTES;

    public static final int ENTRY_LENGTH = 0;
    public static final int ENTRY_CRC = ENTRY_LENGTH + Integer.BYTES;
    public static final int ENTRY_HEADER_BYTES = ENTRY_CRC + Integer.BYTES;

    public static final int FOOTER_MARK = 0;
    public static final int FOOTER_COUNT = FOOTER_MARK + Integer.BYTES;
    public static final int FOOTER_VALUE_BYTES = FOOTER_COUNT + Long.BYTES;
    public static final int FOOTER_SHA256 = FOOTER_VALUE_BYTES + Long.BYTES;
    public static final int FOOTER_BYTES = FOOTER_SHA256 + Digests.SHA256_BYTES;

    public static final int OLDEST_VERSION = 1;
    public static final int NEWEST_VERSION = 1;

    /** The magic: its bytes, in the order in which they are written, spell {@code CARAVSNP}. */
    public static final long MAGIC_VALUE = 0x504E_5356_4152_4143L;
    /**
     * The mark of the footer: its bytes, in the order in which they are written, spell {@code CEND}. It takes the place
     * of a block's raw length, and is not a valid raw length.
     */
    public static final int MARK_VALUE = 0x444E_4543;

    /** Codec of an uncompressed block. */
    public static final int STORED = 0;
    /** Codec of a block that is a Zstandard frame. */
    public static final int ZSTD = 1;

    /** Maximum number of raw bytes in a block. It limits the memory that a reader allocates. */
    public static final int MAX_BLOCK_BYTES = 1 << 18;
    /** Maximum length of a value. */
    public static final int MAX_VALUE_BYTES = (1 << 26) - 1;

    private SnapshotLayout() {}

    /** The checksum of a value and its sequence in a snapshot. Not thread-safe. */
    static final class EntryChecksum {
        private final CRC32C crc = new CRC32C();
        private final ByteBuffer place = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

        /** Returns the checksum of the remaining bytes, without consuming them. */
        int of(long sequence, ByteBuffer value) {
            crc.reset();
            crc.update(place.putLong(0, sequence).array());
            crc.update(value.duplicate());
            return (int) crc.getValue();
        }
    }
}
