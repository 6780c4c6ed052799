package io.caravan.format;

/**
 * The location and length of a value, packed into one long, as described in docs/internals/file-format.md. The index
 * and each checkpoint contain one region for each entry. A region consists of 38 bits for the position divided by 8,
 * one bit that states whether the position is in the heap or the log, and 25 bits for the length of the value.
 *
 * <p>The address space of the heap is therefore 2 TiB, the retained log must be shorter than 1 TiB, and a value must be
 * shorter than 32 MiB.
 */
public final class Region {
    private static final int POSITION_SHIFT = 26;
    private static final long IN_LOG = 1L << POSITION_SHIFT - 1;
    private static final int UNIT_SHIFT = 3;
    /** Number of high bits of an LSN that a region does not contain. */
    private static final int UNUSED_BITS = POSITION_SHIFT - UNIT_SHIFT;

    public static final int MAX_LENGTH = (int) IN_LOG - 1;
    /** The first address that does not fit in a region. */
    public static final long ADDRESS_LIMIT = 1L << Long.SIZE - POSITION_SHIFT + UNIT_SHIFT;

    /**
     * Maximum length of the log, measured from the first segment that a checkpoint needs. Regions distinguish LSNs
     * within 1 TiB; half of this range is kept in reserve.
     */
    public static final long MAX_LOG_BYTES = ADDRESS_LIMIT / 4;

    private Region() {}

    /** Returns the region of a value in the heap. */
    public static long pack(long address, int length) {
        return address >>> UNIT_SHIFT << POSITION_SHIFT | length;
    }

    /** Returns the region of a value in the log, whose entry starts at this LSN. */
    public static long inLog(long entryLsn, int length) {
        return pack(entryLsn, length) | IN_LOG;
    }

    public static boolean isInLog(long region) {
        return (region & IN_LOG) != 0;
    }

    /** Returns the heap address of the first byte of an entry in the heap. */
    public static long address(long region) {
        return region >>> POSITION_SHIFT << UNIT_SHIFT;
    }

    /**
     * Returns the LSN of the first byte of an entry in the log.
     *
     * @param near a position in the log, less than 1 TiB from the entry
     */
    public static long entryLsn(long region, long near) {
        return near - (near - address(region) << UNUSED_BITS >> UNUSED_BITS);
    }

    /** Returns the length of the value, in bytes. */
    public static int length(long region) {
        return (int) region & MAX_LENGTH;
    }

    /** Returns the number of bytes that the entry takes. */
    public static int entryBytes(long region) {
        return EntryLayout.entryBytes(length(region));
    }
}
