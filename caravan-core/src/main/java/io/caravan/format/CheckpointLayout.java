package io.caravan.format;

/**
 * The layout of a checkpoint file, which contains the index at one LSN, partition by partition, as described in
 * docs/internals/file-format.md: the file header, a second header, and sections. The payload of a section consists of
 * lists, or pieces of a long list in the order of their sequences.
 *
 * <p>Replay starts at the start LSN. The log must reach the end LSN for the checkpoint to be complete. A record before
 * the capture LSN of its partition is already reflected in the checkpoint. All sections are captured at the end LSN. In
 * files of earlier releases, each partition was captured at an LSN of its own, and the last partition at the end LSN.
 * The header of format version 3 is shorter: it lacks the CRC and the term of the frame before the start LSN.
 */
public final class CheckpointLayout {
    public static final int START_LSN = FileHeader.BYTES;
    public static final int END_LSN = START_LSN + Long.BYTES;
    public static final int PREVIOUS_LSN = END_LSN + Long.BYTES;
    public static final int LIST_COUNT = PREVIOUS_LSN + Long.BYTES;
    public static final int ENTRY_COUNT = LIST_COUNT + Long.BYTES;
    public static final int FILE_BYTES = ENTRY_COUNT + Long.BYTES;
    public static final int HEAP_SEGMENTS = FILE_BYTES + Long.BYTES;
    public static final int HEAP_SEGMENT_BYTES = HEAP_SEGMENTS + Integer.BYTES;
    public static final int PARTITIONS = HEAP_SEGMENT_BYTES + Integer.BYTES;
    public static final int PREVIOUS_CRC = PARTITIONS + Integer.BYTES;
    public static final int PREVIOUS_TERM = PREVIOUS_CRC + Integer.BYTES;
    public static final int HEADER_CRC = PREVIOUS_TERM + Integer.BYTES;
    public static final int HEADER_BYTES = HEADER_CRC + Integer.BYTES;

    private static final int FIRST_VERSION_WITH_TERM = 4;

    public static final int SECTION_CRC = 0;
    public static final int SECTION_PAYLOAD_BYTES = SECTION_CRC + Integer.BYTES;
    public static final int SECTION_PARTITION = SECTION_PAYLOAD_BYTES + Integer.BYTES;
    public static final int SECTION_PIECES = SECTION_PARTITION + Integer.BYTES;
    public static final int SECTION_CAPTURE_LSN = SECTION_PIECES + Integer.BYTES;
    public static final int SECTION_HEADER_BYTES = SECTION_CAPTURE_LSN + Long.BYTES;

    public static final int PIECE_ID = 0;
    public static final int PIECE_CREATION_LSN = PIECE_ID + Long.BYTES;
    public static final int PIECE_FIRST = PIECE_CREATION_LSN + Long.BYTES;
    public static final int PIECE_NEXT = PIECE_FIRST + Long.BYTES;
    public static final int PIECE_ENTRIES = PIECE_NEXT + Long.BYTES;
    public static final int PIECE_HEADER_BYTES = PIECE_ENTRIES + Long.BYTES;

    /** Maximum size of a section's payload, which bounds the memory that a reader allocates. */
    public static final int MAX_PAYLOAD_BYTES = 1 << 16;

    public static final int MAX_PARTITIONS = 1024;
    /**
     * Exclusive upper limit on all positions, sequences, and file numbers, so that arithmetic with them cannot
     * overflow.
     */
    public static final long NUMBER_LIMIT = 1L << 62;

    private CheckpointLayout() {}

    /** Whether the header of a file of this version contains the CRC and term of the frame before the start LSN. */
    public static boolean hasTerm(int version) {
        return version >= FIRST_VERSION_WITH_TERM;
    }

    /** Returns the offset of the first section in a file of this version. */
    public static int headerBytes(int version) {
        return hasTerm(version) ? HEADER_BYTES : HEADER_BYTES - 2 * Integer.BYTES;
    }

    /**
     * Returns the approximate size of a checkpoint file with this many lists and entries. The extra sections of long
     * lists are not counted.
     */
    public static long fileBytes(long lists, long entries) {
        return HEADER_BYTES
                + (long) MAX_PARTITIONS * SECTION_HEADER_BYTES
                + lists * PIECE_HEADER_BYTES
                + entries * Long.BYTES;
    }
}
