package io.caravan.wal;

import io.caravan.format.Blocks;
import io.caravan.format.FrameLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A frame under construction in memory. It receives its place in the log before its first record, so every record has
 * an LSN from the start. Writers fill it under the store's lock, a flush seals, writes, and clears it, and writers fill
 * it again.
 */
public final class LogBuffer {
    private final ByteBuffer own;
    /** The memory in use: {@link #own}, or a larger buffer if a leader's frame does not fit in {@code own}. */
    private ByteBuffer memory;

    private long baseLsn;
    /** The maximum size of the frame; 0 if the frame has no place in the log yet. */
    private int limit;

    private int end = FrameLayout.HEADER_BYTES;
    private int records;
    /** Whether the memory contains a leader's frame, including its header. */
    private boolean filled;

    /** Creates a buffer for frames of up to this many bytes, which must be a multiple of the block size. */
    public LogBuffer(int bytes) {
        own = allocate(bytes);
        memory = own;
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Assigns a place in the log to the frame, which has no records yet. */
    public void place(long lsn, LogGeometry geometry) {
        baseLsn = lsn;
        limit = Math.min(own.capacity(), geometry.remaining(lsn));
    }

    public boolean isEmpty() {
        return records == 0;
    }

    /** Whether the frame has a place in the log, and records of this many bytes still fit in it. */
    public boolean fits(int bytes) {
        return bytes <= limit - end;
    }

    /** Returns the maximum number of bytes for the records of one frame. */
    public int capacityBytes() {
        return own.capacity() - FrameLayout.HEADER_BYTES;
    }

    /** Returns the total size of the records added so far, in bytes. */
    public int payloadBytes() {
        return end - FrameLayout.HEADER_BYTES;
    }

    /** Reserves bytes for a record, which must {@linkplain #fits fit}. Returns their index in {@link #memory()}. */
    public int add(int bytes) {
        int at = end;
        end += bytes;
        records++;
        return at;
    }

    /** Copies a leader's frame unchanged. A frame larger than this buffer has its own memory until {@link #clear}. */
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

    boolean filled() {
        return filled;
    }

    /** Returns the LSN of the byte at this index of the memory. */
    public long lsn(int index) {
        return baseLsn + index;
    }

    /** Returns the buffer's memory, which callers access only at absolute indexes. */
    public ByteBuffer memory() {
        return memory;
    }

    /** Returns the size of the frame: its header and records. */
    public int bytes() {
        return end;
    }

    public long baseLsn() {
        return baseLsn;
    }

    /** Returns the first LSN after the frame's last record. */
    public long endLsn() {
        return baseLsn + end;
    }

    public int records() {
        return records;
    }

    /** Completes the frame by writing its header. */
    void seal(int magic, long storeId, int term, FrameLayout.Link previous) {
        FrameLayout.seal(memory, magic, storeId, baseLsn, term, previous, payloadBytes(), records);
    }

    /** Returns the frame's bytes up to the end of its last block, ready to be written at its LSN. */
    ByteBuffer padded() {
        int padded = Blocks.roundUp(end);
        for (int i = end; i < padded; i += Long.BYTES) {
            memory.putLong(i, 0);
        }
        return memory.duplicate().position(0).limit(padded);
    }

    public void clear() {
        memory = own;
        limit = 0;
        end = FrameLayout.HEADER_BYTES;
        records = 0;
        filled = false;
    }
}
