package io.caravan.format;

import java.nio.ByteBuffer;

/**
 * The header of a log frame. One frame is one group commit: what one flush writes and one force covers.
 *
 * <pre>
 *   0                   4                   8                  12                  16
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | magic             | CRC-32C           | LSN                                   |
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | store id                              | segment number                        |
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | LSN of the frame before               | payload bytes     | records           |
 *   +-------------------+-------------------+-------------------+-------------------+
 *   | records ...
 * </pre>
 *
 * <p>The CRC covers byte 8 to the end of the payload, and is combined with the magic. A frame starts at a block and is followed by zeros up to the next
 * one. It is valid at a position when, in this order: (1) the magic is right; (2) the LSN is the position; (3) the
 * payload fits the segment; (4) store id and segment number are right; (5) the CRC is right. So neither a torn frame,
 * nor one that a recycled segment still holds, nor one of another store is ever taken for a valid one.
 *
 * <p>There are two magics. One says that all frames before were forced when this one was written: if it is there, so
 * must they be. The other says nothing of that: a power cut may have taken any frame since the last force. As the CRC
 * tells them apart too, a torn write that leaves the magic of an older frame here leaves no valid frame.
 */
public final class FrameLayout {
    public static final int MAGIC = 0;
    public static final int CRC = MAGIC + Integer.BYTES;
    public static final int LSN = CRC + Integer.BYTES;
    public static final int STORE_ID = LSN + Long.BYTES;
    public static final int SEGMENT = STORE_ID + Long.BYTES;
    public static final int PREVIOUS_LSN = SEGMENT + Long.BYTES;
    public static final int PAYLOAD_BYTES = PREVIOUS_LSN + Long.BYTES;
    public static final int RECORD_COUNT = PAYLOAD_BYTES + Integer.BYTES;
    public static final int HEADER_BYTES = RECORD_COUNT + Integer.BYTES;

    /** "CFRM" in the order of the bytes: every frame before was forced. */
    public static final int MAGIC_VALUE = 0x4D52_4643;

    /** "CUFR" in the order of the bytes: frames before may not have been forced. */
    public static final int MAGIC_BEHIND_UNFORCED = 0x5246_5543;

    /** Stands for the frame before the first. */
    public static final long NO_FRAME = -1;

    private FrameLayout() {}

    /** What identifies a frame beside its records. */
    public record Identity(long lsn, long storeId, long segment) {}

    /**
     * Completes the frame whose records lie from {@link #HEADER_BYTES} on; the buffer starts at the frame.
     *
     * @param magic one of the two
     */
    public static void seal(
            ByteBuffer frame, int magic, Identity identity, long previousLsn, int payloadBytes, int records) {
        frame.putInt(MAGIC, magic);
        frame.putLong(LSN, identity.lsn());
        frame.putLong(STORE_ID, identity.storeId());
        frame.putLong(SEGMENT, identity.segment());
        frame.putLong(PREVIOUS_LSN, previousLsn);
        frame.putInt(PAYLOAD_BYTES, payloadBytes);
        frame.putInt(RECORD_COUNT, records);
        frame.putInt(CRC, checksum(frame, 0, payloadBytes));
    }

    private static int checksum(ByteBuffer buffer, int at, int payloadBytes) {
        int crc = Checksums.crc32c(buffer, at + LSN, HEADER_BYTES - LSN + payloadBytes);
        return crc ^ buffer.getInt(at + MAGIC) ^ MAGIC_VALUE;
    }

    /** Whether a frame's magic stands at this index of the buffer. */
    public static boolean magicAt(ByteBuffer segment, int at) {
        return afterForce(segment, at) || segment.getInt(at + MAGIC) == MAGIC_BEHIND_UNFORCED;
    }

    /** Whether the frame at this index was written when every frame before it was forced. */
    public static boolean afterForce(ByteBuffer segment, int at) {
        return segment.getInt(at + MAGIC) == MAGIC_VALUE;
    }

    /** Whether a valid frame starts at this index of the buffer, which holds the rest of the frame's segment. */
    public static boolean valid(ByteBuffer segment, int at, Identity identity) {
        int payloadBytes = claimedPayloadBytes(segment, at, identity);
        return payloadBytes >= 0 && segment.getInt(at + CRC) == checksum(segment, at, payloadBytes);
    }

    /** Payload bytes of the frame at this index if conditions 1 to 4 hold, or -1. */
    public static int claimedPayloadBytes(ByteBuffer segment, int at, Identity identity) {
        if (segment.limit() - at < HEADER_BYTES
                || !magicAt(segment, at)
                || segment.getLong(at + LSN) != identity.lsn()) {
            return -1;
        }
        int payloadBytes = segment.getInt(at + PAYLOAD_BYTES);
        boolean claimed = payloadBytes >= 0
                && payloadBytes <= segment.limit() - at - HEADER_BYTES
                && segment.getLong(at + STORE_ID) == identity.storeId()
                && segment.getLong(at + SEGMENT) == identity.segment();
        return claimed ? payloadBytes : -1;
    }

    /** How many of five fields of the header at this index match a certain frame, whatever its checksum. */
    public static int fieldsRight(ByteBuffer segment, int at, Identity identity, long previousLsn) {
        if (segment.limit() - at < HEADER_BYTES) {
            return 0;
        }
        return (magicAt(segment, at) ? 1 : 0)
                + (segment.getLong(at + LSN) == identity.lsn() ? 1 : 0)
                + (segment.getLong(at + STORE_ID) == identity.storeId() ? 1 : 0)
                + (segment.getLong(at + SEGMENT) == identity.segment() ? 1 : 0)
                + (segment.getLong(at + PREVIOUS_LSN) == previousLsn ? 1 : 0);
    }
}
