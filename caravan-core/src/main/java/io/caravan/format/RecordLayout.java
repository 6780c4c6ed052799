package io.caravan.format;

import java.nio.ByteBuffer;

/**
 * The layout of the records of a frame, as described in docs/internals/file-format.md: one record for each operation,
 * in order, each starting at a multiple of 8 bytes. A record's LSN is its byte position in the log. A record contains
 * the operation, but no location in the heap, so a frame has the same meaning on every node.
 */
public final class RecordLayout {
    public static final int TYPE = 0;
    public static final int RECORD_BYTES = TYPE + Integer.BYTES;
    public static final int ID = RECORD_BYTES + Integer.BYTES;
    public static final int DELETE_BYTES = ID + Long.BYTES;

    public static final int SEQUENCE = ID + Long.BYTES;
    public static final int TRIM_BYTES = SEQUENCE + Long.BYTES;

    public static final int ENTRY = SEQUENCE + Long.BYTES;
    public static final int TRIM = 2;
    public static final int DELETE = 3;
    public static final int APPEND = 4;

    private RecordLayout() {}

    /** Returns the size of the record of an append with a value of this length. */
    public static int appendBytes(int length) {
        return ENTRY + EntryLayout.entryBytes(length);
    }

    /**
     * Writes an append record, except for the value, which the caller writes at {@code at + ENTRY + EntryLayout.VALUE}.
     */
    public static void putAppend(ByteBuffer buffer, int at, long id, long sequence, int sum, int length) {
        int bytes = appendBytes(length);
        // Fills the padding after the value with zeros, because the buffer may contain bytes of an earlier frame.
        buffer.putLong(at + bytes - Long.BYTES, 0);
        putHead(buffer, at, APPEND, bytes, id);
        buffer.putLong(at + SEQUENCE, sequence);
        buffer.putInt(at + ENTRY + EntryLayout.CHECKSUM, sum);
        buffer.putInt(at + ENTRY + EntryLayout.LENGTH, length);
    }

    public static void putTrim(ByteBuffer buffer, int at, long id, long firstSequence) {
        putHead(buffer, at, TRIM, TRIM_BYTES, id);
        buffer.putLong(at + SEQUENCE, firstSequence);
    }

    public static void putDelete(ByteBuffer buffer, int at, long id) {
        putHead(buffer, at, DELETE, DELETE_BYTES, id);
    }

    private static void putHead(ByteBuffer buffer, int at, int type, int bytes, long id) {
        buffer.putInt(at + TYPE, type);
        buffer.putInt(at + RECORD_BYTES, bytes);
        buffer.putLong(at + ID, id);
    }

    /** Receives the records of a frame. Indexes refer to the visited buffer. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Visits an append. Its entry, of {@link EntryLayout#entryBytes} bytes, starts at {@code entryAt} in the
         * buffer.
         */
        void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length);

        default void trim(long lsn, long id, long firstSequence) {}

        default void delete(long lsn, long id) {}
    }

    /** Visits all records of a frame; see {@link #forEachInFrame(ByteBuffer, int, long, long, Visitor)}. */
    public static void forEachInFrame(ByteBuffer buffer, int at, long lsn, Visitor visitor) {
        forEachInFrame(buffer, at, lsn, lsn, visitor);
    }

    /**
     * Visits the records of the valid frame with this LSN, whose header is at this index.
     *
     * @param from the LSN of the first record to visit
     * @throws InvalidRecordException at the first record that is not valid
     */
    public static void forEachInFrame(ByteBuffer buffer, int at, long lsn, long from, Visitor visitor) {
        int end = at + FrameLayout.HEADER_BYTES + buffer.getInt(at + FrameLayout.PAYLOAD_BYTES);
        int records = 0;
        int index = at + FrameLayout.HEADER_BYTES;
        while (index < end) {
            long recordLsn = lsn + index - at;
            int bytes = checkedBytes(buffer, index, end, recordLsn);
            if (recordLsn >= from) {
                visit(buffer, index, recordLsn, visitor);
            }
            index += bytes;
            records++;
        }
        int announced = buffer.getInt(at + FrameLayout.RECORD_COUNT);
        if (records != announced) {
            throw new InvalidRecordException(lsn, "the frame has " + records + " records and says " + announced);
        }
    }

    private static void visit(ByteBuffer buffer, int index, long lsn, Visitor visitor) {
        long id = buffer.getLong(index + ID);
        switch (buffer.getInt(index + TYPE)) {
            case APPEND ->
                visitor.append(
                        lsn,
                        id,
                        buffer.getLong(index + SEQUENCE),
                        lsn + ENTRY,
                        buffer,
                        index + ENTRY,
                        buffer.getInt(index + ENTRY + EntryLayout.LENGTH));
            case TRIM -> visitor.trim(lsn, id, buffer.getLong(index + SEQUENCE));
            default -> visitor.delete(lsn, id);
        }
    }

    /** Checks the record at this index, in a frame that ends at {@code end}. Returns the record's length. */
    private static int checkedBytes(ByteBuffer buffer, int index, int end, long lsn) {
        if (end - index < DELETE_BYTES) {
            throw new InvalidRecordException(lsn, "a record is cut off by its frame's end");
        }
        int type = buffer.getInt(index + TYPE);
        int needed = switch (type) {
            case APPEND -> appendBytes(checkedLength(buffer, index + ENTRY, end, lsn));
            case TRIM -> TRIM_BYTES;
            case DELETE -> DELETE_BYTES;
            default -> throw new InvalidRecordException(lsn, "unknown record type " + type);
        };
        int bytes = buffer.getInt(index + RECORD_BYTES);
        if (bytes != needed || bytes > end - index) {
            throw new InvalidRecordException(
                    lsn,
                    "a record says that it is " + bytes + " bytes long, should be " + needed + ", and its frame has "
                            + (end - index) + " left");
        }
        return bytes;
    }

    private static int checkedLength(ByteBuffer buffer, int entryAt, int end, long lsn) {
        int room = end - entryAt - EntryLayout.VALUE;
        int length = room < 0 ? -1 : buffer.getInt(entryAt + EntryLayout.LENGTH);
        if (length < 0 || length > Math.min(room, Region.MAX_LENGTH)) {
            throw new InvalidRecordException(lsn, "an append's value does not fit its frame");
        }
        return length;
    }
}
