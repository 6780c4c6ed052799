package io.caravan.format;

import java.nio.ByteBuffer;

/**
 * The layout of an entry (a value in a log record), as described in docs/internals/file-format.md. An entry has the
 * same bytes after it has moved to the heap.
 *
 * <p>The checksum combines the value's CRC-32C, which a writer computes before it takes any lock, with a hash of the
 * list id, the creation LSN of the list, the sequence, and the length. Readers therefore reject a stale or misplaced
 * entry in the same way as a damaged entry.
 */
public final class EntryLayout {
    public static final int CHECKSUM = 0;
    public static final int LENGTH = CHECKSUM + Integer.BYTES;
    public static final int VALUE = LENGTH + Integer.BYTES;
    public static final int ALIGNMENT = Long.BYTES;

    private EntryLayout() {}

    /** Returns the size of an entry with a value of this length, including padding. */
    public static int entryBytes(int length) {
        return (VALUE + length + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /**
     * Returns an entry's checksum: the value's CRC, combined with a hash of the length and the identity of the entry.
     */
    public static int checksum(int valueCrc, int length, long id, long creationLsn, long sequence) {
        long hash = id * 0x9E37_79B9_7F4A_7C15L;
        hash = (Long.rotateLeft(hash, 29) ^ creationLsn) * 0xBF58_476D_1CE4_E5B9L;
        hash = (Long.rotateLeft(hash, 31) ^ sequence) * 0x94D0_49BB_1331_11EBL;
        hash = (Long.rotateLeft(hash, 27) ^ length) * 0x9E37_79B9_7F4A_7C15L;
        return valueCrc ^ (int) (hash >>> 32);
    }

    /** Whether the bytes at this index are the entry with this identity, and its value is intact. */
    public static boolean valid(ByteBuffer buffer, int at, int length, long id, long creationLsn, long sequence) {
        return buffer.getInt(at + LENGTH) == length
                && buffer.getInt(at + CHECKSUM)
                        == checksum(Checksums.crc32c(buffer, at + VALUE, length), length, id, creationLsn, sequence);
    }
}
