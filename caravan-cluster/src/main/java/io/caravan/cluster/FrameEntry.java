package io.caravan.cluster;

import io.caravan.format.FileHeader;
import io.caravan.format.FrameLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A frame of the store's log as an entry of the Raft log. A header before the frame contains settings that must be the
 * same on all nodes of a group. Numbers are little-endian.
 *
 * @param logSegmentBytes size of the leader's log segments
 */
record FrameEntry(ByteBuffer frame, int logSegmentBytes) {
    /** The format level of the store's files and frames. Every node must be able to read this level. */
    static final int FORMAT_LEVEL = FileHeader.NEWEST_VERSION;

    private static final int MAGIC_VALUE = 0x3145_5643;
    private static final int LEVEL = Integer.BYTES;
    private static final int SEGMENT_BYTES = LEVEL + Integer.BYTES;
    /** The offset of an unused field: earlier builds stored the checksum of the previous frame here. */
    private static final int UNUSED = SEGMENT_BYTES + Integer.BYTES;

    private static final int CRC = UNUSED + Long.BYTES;
    private static final int HEAD_BYTES = CRC + Integer.BYTES;

    byte[] encode() {
        ByteBuffer entry = ByteBuffer.allocate(HEAD_BYTES + frame.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        entry.putInt(MAGIC_VALUE).putInt(FORMAT_LEVEL).putInt(logSegmentBytes).putLong(0);
        entry.putInt(checksum(entry)).put(frame.duplicate());
        return entry.array();
    }

    /**
     * Decodes an entry of the Raft log.
     *
     * @param place a description of the entry's place, for messages
     * @throws IllegalStateException if this build cannot read the entry
     */
    static FrameEntry decode(String place, ByteBuffer bytes) {
        ByteBuffer entry = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (entry.limit() < HEAD_BYTES + FrameLayout.HEADER_BYTES
                || entry.getInt(0) != MAGIC_VALUE
                || entry.getInt(CRC) != checksum(entry)) {
            throw new IllegalStateException(
                    "entry " + place + " of the Raft group is damaged, or was written by a later version of Caravan");
        }
        int level = entry.getInt(LEVEL);
        if (level > FORMAT_LEVEL) {
            throw new IllegalStateException("entry " + place + " of the Raft group has format level " + level
                    + ", but this node reads only levels up to " + FORMAT_LEVEL
                    + ": start this node with the version of Caravan that the leader runs");
        }
        return new FrameEntry(entry.slice(HEAD_BYTES, entry.limit() - HEAD_BYTES), entry.getInt(SEGMENT_BYTES));
    }

    private static int checksum(ByteBuffer entry) {
        CRC32C crc = new CRC32C();
        crc.update(entry.slice(0, CRC));
        return (int) crc.getValue();
    }

    static long lsn(ByteBuffer frame) {
        return header(frame).getLong(FrameLayout.LSN);
    }

    /** Returns the LSN directly after the records of a frame. */
    static long endLsn(ByteBuffer frame) {
        return lsn(frame) + frame.remaining();
    }

    static ByteBuffer header(ByteBuffer frame) {
        return frame.slice().order(ByteOrder.LITTLE_ENDIAN);
    }
}
