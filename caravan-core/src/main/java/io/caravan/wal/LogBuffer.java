package io.caravan.wal;

import io.caravan.format.Blocks;
import io.caravan.format.FrameLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A frame being put together in memory. It gets its place in the log before its first record, so that every record
 * knows its LSN. Filled under the store's lock, then sealed and written by the flusher, then emptied and filled again.
 */
public final class LogBuffer {
    private static final long UNPLACED = -1;

    private final ByteBuffer own;
    /** {@link #own}, or a larger one while a leader's frame is in it that does not fit there. */
    private ByteBuffer memory;

    private long baseLsn = UNPLACED;
    private int limit;
    private int end = FrameLayout.HEADER_BYTES;
    private int records;
    /** Whether the memory has a leader's frame, header and all. */
    private boolean filled;

    /** A buffer for frames of up to this many bytes, a multiple of a block. */
    public LogBuffer(int bytes) {
        own = allocate(bytes);
        memory = own;
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Gives the frame its place; it has no records yet. */
    public void place(long lsn, LogGeometry geometry) {
        baseLsn = lsn;
        limit = Math.min(own.capacity(), geometry.remaining(lsn));
    }

    public boolean placed() {
        return baseLsn != UNPLACED;
    }

    public boolean isEmpty() {
        return records == 0;
    }

    /** Whether records of so many bytes still fit the frame. */
    public boolean fits(int bytes) {
        return placed() && bytes <= limit - end;
    }

    /** The most that the records of one frame can take. */
    public int capacityBytes() {
        return own.capacity() - FrameLayout.HEADER_BYTES;
    }

    /** Bytes that records have taken so far. */
    public int payloadBytes() {
        return end - FrameLayout.HEADER_BYTES;
    }

    /** Takes the next bytes for a record, which {@link #fits}; returns its index in {@link #memory()}. */
    public int add(int bytes) {
        int at = end;
        end += bytes;
        records++;
        return at;
    }

    /**
     * Takes a leader's frame as it is. It may be larger than this buffer: then it gets memory of its own until
     * {@link #clear}.
     */
    public void fill(ByteBuffer frame) {
        int bytes = FrameLayout.HEADER_BYTES + frame.getInt(FrameLayout.PAYLOAD_BYTES);
        if (Blocks.roundUp(bytes) > memory.capacity()) {
            memory = allocate(Blocks.roundUp(bytes));
        }
        memory.put(0, frame, 0, bytes);
        end = bytes;
        records = frame.getInt(FrameLayout.RECORD_COUNT);
        filled = true;
    }

    /** Whether it has a leader's frame. */
    boolean filled() {
        return filled;
    }

    /** The LSN of what lies at this index. */
    public long lsn(int index) {
        return baseLsn + index;
    }

    /** The memory, for absolute access. */
    public ByteBuffer memory() {
        return memory;
    }

    /** Size of the frame: its header and records. */
    public int bytes() {
        return end;
    }

    /** Where the frame starts in the log. */
    public long baseLsn() {
        return baseLsn;
    }

    /** The first position behind the frame's last record. */
    public long endLsn() {
        return baseLsn + end;
    }

    public int records() {
        return records;
    }

    /** Completes the frame. */
    void seal(int magic, long storeId, int term, FrameLayout.Link previous) {
        FrameLayout.seal(memory, magic, storeId, baseLsn, term, previous, payloadBytes(), records);
    }

    /** The frame's bytes up to the end of its last block, ready to be written at its LSN. */
    ByteBuffer padded() {
        int padded = Blocks.roundUp(end);
        for (int i = end; i < padded; i += Long.BYTES) {
            memory.putLong(i, 0);
        }
        return memory.duplicate().position(0).limit(padded);
    }

    /** Makes the buffer ready for another frame. */
    public void clear() {
        memory = own;
        baseLsn = UNPLACED;
        end = FrameLayout.HEADER_BYTES;
        records = 0;
        filled = false;
    }
}
