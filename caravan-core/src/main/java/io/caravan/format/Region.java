package io.caravan.format;

/**
 * Where a value lies, in one long. The index and each checkpoint have one for each entry.
 *
 * <pre>
 *   63                        26 25                   0
 *   +---------------------------+----------------------+
 *   | heap address / 8, 38 bits | value length, 26 bits|
 *   +---------------------------+----------------------+
 * </pre>
 *
 * <p>So the heap's address space is 2 TiB and a value shorter than 64 MiB.
 */
public final class Region {
    private static final int LENGTH_BITS = 26;
    private static final int ADDRESS_SHIFT = 3;

    /** Greatest length of a value. */
    public static final int MAX_LENGTH = (1 << LENGTH_BITS) - 1;
    /** The first address that is too high for a region. */
    public static final long ADDRESS_LIMIT = 1L << Long.SIZE - LENGTH_BITS + ADDRESS_SHIFT;

    private Region() {}

    public static long pack(long address, int length) {
        return address >>> ADDRESS_SHIFT << LENGTH_BITS | length;
    }

    /** First byte in the heap's address space. */
    public static long address(long region) {
        return region >>> LENGTH_BITS << ADDRESS_SHIFT;
    }

    /** Length of the value, in bytes. */
    public static int length(long region) {
        return (int) region & MAX_LENGTH;
    }

    /** Bytes that the entry takes in the heap. */
    public static int entryBytes(long region) {
        return EntryLayout.entryBytes(length(region));
    }
}
