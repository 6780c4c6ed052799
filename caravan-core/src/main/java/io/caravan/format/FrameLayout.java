package io.caravan.format;

import java.nio.ByteBuffer;

/**
 * The header of a log frame, as described in docs/internals/file-format.md. A frame is one group commit: the records
 * that one flush writes. It starts at a block, and zeros follow it up to the next block.
 *
 * <p>A frame is valid at a position if, in this order: (1) the magic is correct; (2) the LSN is the position; (3) the
 * payload fits the segment; (4) the store id is correct; (5) the CRC is correct. A torn frame, an old frame in a
 * recycled segment, or a frame of another store is therefore never valid.
 *
 * <p>A valid frame {@linkplain #follows follows} another frame if it contains that frame's LSN and CRC, and its term is
 * not lower. The term increases each time that a store is opened, or a replica begins to lead. A frame that was removed
 * from the log therefore never follows a frame that later replaced its predecessor, as in Raft (Ongaro and Ousterhout,
 * "In Search of an Understandable Consensus Algorithm", ATC 2014).
 *
 * <p>The magic states whether all earlier frames were fsynced when the frame was written. The CRC also covers the
 * magic, so a torn write that leaves the magic of an older frame leaves no valid frame. Frames of format version 3 have
 * their own magics, and the term 0.
 */
public final class FrameLayout {
    public static final int MAGIC = 0;
    public static final int CRC = MAGIC + Integer.BYTES;
    public static final int LSN = CRC + Integer.BYTES;
    public static final int STORE_ID = LSN + Long.BYTES;
    public static final int TERM = STORE_ID + Long.BYTES;
    public static final int PREVIOUS_CRC = TERM + Integer.BYTES;
    public static final int PREVIOUS_LSN = PREVIOUS_CRC + Integer.BYTES;
    public static final int PAYLOAD_BYTES = PREVIOUS_LSN + Long.BYTES;
    public static final int RECORD_COUNT = PAYLOAD_BYTES + Integer.BYTES;
    public static final int HEADER_BYTES = RECORD_COUNT + Integer.BYTES;

    /** The bytes "CFRT" in file order: the magic of a frame if all earlier frames were fsynced. */
    public static final int MAGIC_VALUE = 0x5452_4643;

    /** The bytes "CUFT" in file order: the magic of a frame if earlier frames may not have been fsynced. */
    public static final int MAGIC_BEHIND_UNFORCED = 0x5446_5543;

    /** The bytes "CFRM" in file order: the equivalent of {@link #MAGIC_VALUE} in version 3 of the format. */
    public static final int OLD_MAGIC_VALUE = 0x4D52_4643;

    /** The bytes "CUFR" in file order: the equivalent of {@link #MAGIC_BEHIND_UNFORCED} in version 3 of the format. */
    public static final int OLD_MAGIC_BEHIND_UNFORCED = 0x5246_5543;

    /** The value that the first frame of a log contains as its previous LSN. */
    public static final long NO_FRAME = -1;

    private FrameLayout() {}

    /**
     * A reference from a frame to the previous frame.
     *
     * @param lsn LSN of the previous frame, or {@link #NO_FRAME}
     * @param crc CRC of the previous frame; ignored if the term is 0
     * @param term term of the previous frame; 0 if there is none, or if it has an earlier format version, in which the
     *     LSN alone identifies a frame
     */
    public record Link(long lsn, int crc, int term) {
        public static final Link NONE = new Link(NO_FRAME, 0, 0);
    }

    /** Returns the link that the next frame contains if it follows the frame at this index. */
    public static Link link(ByteBuffer segment, int at) {
        return new Link(segment.getLong(at + LSN), segment.getInt(at + CRC), term(segment, at));
    }

    /**
     * Completes the frame whose records start at {@link #HEADER_BYTES}. The buffer starts at the frame.
     *
     * @param magic {@link #MAGIC_VALUE} or {@link #MAGIC_BEHIND_UNFORCED}
     */
    public static void seal(
            ByteBuffer frame,
            int magic,
            long storeId,
            long lsn,
            int term,
            Link previous,
            int payloadBytes,
            int records) {
        frame.putInt(MAGIC, magic);
        frame.putLong(LSN, lsn);
        frame.putLong(STORE_ID, storeId);
        frame.putInt(TERM, term);
        frame.putInt(PREVIOUS_CRC, previous.crc());
        frame.putLong(PREVIOUS_LSN, previous.lsn());
        frame.putInt(PAYLOAD_BYTES, payloadBytes);
        frame.putInt(RECORD_COUNT, records);
        frame.putInt(CRC, checksum(frame, 0, payloadBytes));
    }

    /**
     * Returns the checksum of the frame at this index. The frame's magic, header, and payload must already be written.
     */
    public static int checksum(ByteBuffer buffer, int at, int payloadBytes) {
        int crc = Checksums.crc32c(buffer, at + LSN, HEADER_BYTES - LSN + payloadBytes);
        return crc ^ buffer.getInt(at + MAGIC) ^ (isOld(buffer, at) ? OLD_MAGIC_VALUE : 0);
    }

    private static boolean isOld(ByteBuffer segment, int at) {
        int magic = segment.getInt(at + MAGIC);
        return magic == OLD_MAGIC_VALUE || magic == OLD_MAGIC_BEHIND_UNFORCED;
    }

    /** Whether the bytes at this index are the magic with which a frame starts. */
    public static boolean magicAt(ByteBuffer segment, int at) {
        return afterForce(segment, at)
                || segment.getInt(at + MAGIC) == MAGIC_BEHIND_UNFORCED
                || segment.getInt(at + MAGIC) == OLD_MAGIC_BEHIND_UNFORCED;
    }

    /** Whether all earlier frames were fsynced when the frame at this index was written. */
    public static boolean afterForce(ByteBuffer segment, int at) {
        int magic = segment.getInt(at + MAGIC);
        return magic == MAGIC_VALUE || magic == OLD_MAGIC_VALUE;
    }

    /** Returns the term in which the frame at this index was written. */
    public static int term(ByteBuffer segment, int at) {
        return isOld(segment, at) ? 0 : segment.getInt(at + TERM);
    }

    /** Whether the valid frame at this index follows the frame that {@code previous} identifies. */
    public static boolean follows(ByteBuffer segment, int at, Link previous) {
        return segment.getLong(at + PREVIOUS_LSN) == previous.lsn()
                && term(segment, at) >= previous.term()
                && (isOld(segment, at) || previous.term() == 0 || segment.getInt(at + PREVIOUS_CRC) == previous.crc());
    }

    /**
     * Whether a valid frame with this LSN starts at this index. The buffer must contain the segment from there to its
     * end.
     */
    public static boolean valid(ByteBuffer segment, int at, long storeId, long lsn) {
        int payloadBytes = claimedPayloadBytes(segment, at, storeId, lsn);
        return payloadBytes >= 0 && segment.getInt(at + CRC) == checksum(segment, at, payloadBytes);
    }

    /** Returns the number of payload bytes of the frame at this index if conditions 1 to 4 hold, or -1. */
    public static int claimedPayloadBytes(ByteBuffer segment, int at, long storeId, long lsn) {
        if (segment.limit() - at < HEADER_BYTES || !magicAt(segment, at) || segment.getLong(at + LSN) != lsn) {
            return -1;
        }
        int payloadBytes = segment.getInt(at + PAYLOAD_BYTES);
        boolean claimed = payloadBytes >= 0
                && payloadBytes <= segment.limit() - at - HEADER_BYTES
                && segment.getLong(at + STORE_ID) == storeId;
        return claimed ? payloadBytes : -1;
    }

    /**
     * Returns the number of header fields at this index, up to four, that match those of the expected frame. Ignores
     * the checksum.
     */
    public static int fieldsRight(ByteBuffer segment, int at, long storeId, long lsn, long previousLsn) {
        if (segment.limit() - at < HEADER_BYTES) {
            return 0;
        }
        return (magicAt(segment, at) ? 1 : 0)
                + (segment.getLong(at + LSN) == lsn ? 1 : 0)
                + (segment.getLong(at + STORE_ID) == storeId ? 1 : 0)
                + (segment.getLong(at + PREVIOUS_LSN) == previousLsn ? 1 : 0);
    }
}
