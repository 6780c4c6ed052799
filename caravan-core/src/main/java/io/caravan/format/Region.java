package io.caravan.format;

/**
 * Where a value lies, in one long. The index and each checkpoint have one for each entry.
 *
 * <pre>
 *   63                        26  25  24                   0
 *   +---------------------------+---+----------------------+
 *   | position / 8, 38 bits     | L | value length, 25 bits|
 *   +---------------------------+---+----------------------+
 *
 *   L = 0: in the heap, at this address
 *   L = 1: in the log, at the LSN whose lowest 41 bits this is
 * </pre>
 *
 * <p>So the address space of the heap is 2 TiB, the log that is retained is shorter than half of that, and a value is
 * shorter than 32 MiB.
 */
public final class Region {
    private static final int POSITION_SHIFT = 26;
    private static final long IN_LOG = 1L << POSITION_SHIFT - 1;
    private static final int UNIT_SHIFT = 3;
    /** Highest bits of an LSN that a region has no room for. */
    private static final int UNUSED_BITS = POSITION_SHIFT - UNIT_SHIFT;

    /** Greatest length of a value. */
    public static final int MAX_LENGTH = (int) IN_LOG - 1;
    /** The first address that is too high for a region. */
    public static final long ADDRESS_LIMIT = 1L << Long.SIZE - POSITION_SHIFT + UNIT_SHIFT;

    /** The log may not be longer than this from the newest checkpoint's start on: half of what regions tell apart, and some to spare. */
    public static final long MAX_LOG_BYTES = ADDRESS_LIMIT / 4;

    private Region() {}

    /** A value in the heap. */
    public static long pack(long address, int length) {
        return address >>> UNIT_SHIFT << POSITION_SHIFT | length;
    }

    /** A value in the log, whose entry starts at this LSN. */
    public static long inLog(long entryLsn, int length) {
        return pack(entryLsn, length) | IN_LOG;
    }

    /** Whether the value lies in the log. */
    public static boolean isInLog(long region) {
        return (region & IN_LOG) != 0;
    }

    /** First byte in the heap's address space, of a value there. */
    public static long address(long region) {
        return position(region);
    }

    private static long position(long region) {
        return region >>> POSITION_SHIFT << UNIT_SHIFT;
    }

    /**
     * LSN of the first byte of an entry in the log.
     *
     * @param near a position in the log, less than 1 TiB from the entry
     */
    public static long entryLsn(long region, long near) {
        return near - (near - position(region) << UNUSED_BITS >> UNUSED_BITS);
    }

    /** Length of the value, in bytes. */
    public static int length(long region) {
        return (int) region & MAX_LENGTH;
    }

    /** Bytes that the entry takes. */
    public static int entryBytes(long region) {
        return EntryLayout.entryBytes(length(region));
    }
}
