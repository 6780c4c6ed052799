package io.caravan.wal;

import io.caravan.format.Blocks;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Reads the frames of an intact or damaged log: the frame at a position, the frame that follows another frame, or the
 * next valid frame. It never reports damage as an error; callers decide whether to refuse the log. It keeps a window of
 * the log in memory, which is as large as the read-ahead or the largest frame so far.
 *
 * <p>Not thread-safe.
 */
public final class LogFrames {
    /** The result of a search that finds no frame. */
    public static final long NOWHERE = -1;

    /** The read-ahead, in bytes, for a log that is not being written: many small frames, which fit in a cache. */
    public static final int READ_AHEAD_BYTES = 256 << 10;

    /** No read-ahead, for a log that is being written, so that each request reads the file again. */
    public static final int NO_READ_AHEAD = 0;

    private static final int MEBIBYTE_SHIFT = 20;
    /** Direct memory in MiB, including a margin, that a store with default settings needs besides a log segment. */
    private static final int OTHER_MEBIBYTES = 16;

    /** Finds the files of the log segments. */
    @FunctionalInterface
    public interface Files {
        /** Returns the file of a segment, or null if it does not exist. */
        @Nullable
        StoreFile file(long segment) throws IOException;
    }

    /** Receives the blocks in which no valid frame starts. */
    @FunctionalInterface
    public interface PassedBlocks {
        /** Handles such a block. The window contains the frame bytes that the block's header claims, if they exist. */
        void passed(long lsn) throws IOException;
    }

    private final LogGeometry geometry;
    private final long storeId;
    private final Files files;
    private final int readAheadBytes;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowLsn;

    public LogFrames(LogGeometry geometry, long storeId, Files files, int readAheadBytes) {
        this.geometry = geometry;
        this.storeId = storeId;
        this.files = files;
        this.readAheadBytes = readAheadBytes;
    }

    /** Returns the window with the bytes of the last read; {@link #at} returns the index of a position in it. */
    public ByteBuffer window() {
        return window;
    }

    /** Returns the index, in the window, of a position within the last read. */
    public int at(long lsn) {
        return (int) (lsn - windowLsn);
    }

    /** Whether a valid frame starts at this LSN. If so, the window contains the entire frame. */
    public boolean validAt(long lsn) throws IOException {
        return begunAt(lsn) && read(lsn, frameBytes(lsn)) && FrameLayout.valid(window, at(lsn), storeId, lsn);
    }

    /** Returns the size that the header at this LSN claims for its frame. A damaged header may claim any number. */
    private int frameBytes(long lsn) {
        return FrameLayout.HEADER_BYTES + window.getInt(at(lsn) + FrameLayout.PAYLOAD_BYTES);
    }

    /** Whether the bytes at this LSN are the header of a frame with this LSN. If so, the window contains the header. */
    public boolean begunAt(long lsn) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                && FrameLayout.magicAt(window, at(lsn))
                && window.getLong(at(lsn) + FrameLayout.LSN) == lsn;
    }

    /** Returns the position of the next frame, there or first in the next segment; {@link #NOWHERE} if none follows. */
    public long following(long position, Link previous) throws IOException {
        if (followsAt(position, previous)) {
            return position;
        }
        long inNextSegment = firstBehind(position);
        return followsAt(inNextSegment, previous) ? inNextSegment : NOWHERE;
    }

    /** Returns the bytes of the valid frame at this LSN, which must be the frame that was read last. */
    ByteBuffer frameAt(long lsn) {
        return window.slice(at(lsn), frameBytes(lsn));
    }

    private boolean followsAt(long lsn, Link previous) throws IOException {
        return validAt(lsn) && FrameLayout.follows(window, at(lsn), previous);
    }

    /**
     * Returns the position of a segment's first valid frame at or after a position, past any invalid bytes; {@link
     * #NOWHERE} if there is none.
     *
     * @param term the minimum term; frames of a lower term are skipped, because they were removed from the log earlier
     */
    public long firstValid(long segment, long from, int term, PassedBlocks blocks) throws IOException {
        long end = geometry.startOf(segment + 1);
        for (long lsn = Math.max(from, geometry.firstFrame(segment)); lsn < end; lsn += Blocks.BLOCK_BYTES) {
            if (!validAt(lsn)) {
                blocks.passed(lsn);
            } else if (FrameLayout.term(window, at(lsn)) >= term) {
                return lsn;
            }
        }
        return NOWHERE;
    }

    /** Returns the position of the first frame in the segment after the segment that contains this LSN. */
    public long firstBehind(long lsn) {
        return geometry.firstFrame(geometry.segmentOf(lsn) + 1);
    }

    /** Returns the link with which the next frame refers to the frame at this LSN, which was read last. */
    public Link linkOf(long lsn) {
        return FrameLayout.link(window, at(lsn));
    }

    /** Returns the position after the valid frame at this LSN, which was read last. */
    public long positionBehind(long lsn) {
        return geometry.positionAfter(lsn + frameBytes(lsn));
    }

    /** Returns the number of payload bytes that a correct header at this LSN claims, if they exist; otherwise 0. */
    int claimedBytesAt(long lsn) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                ? Math.max(0, FrameLayout.claimedPayloadBytes(window, at(lsn), storeId, lsn))
                : 0;
    }

    /** Returns the number of header fields that match the expected frame: most if a damaged frame is here. */
    public int fieldsRight(long lsn, long previous) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                ? FrameLayout.fieldsRight(window, at(lsn), storeId, lsn, previous)
                : 0;
    }

    /** Reads bytes from a position into the window. Returns false if the log does not have these bytes. */
    boolean read(long lsn, int bytes) throws IOException {
        if (readAheadBytes > 0 && lsn >= windowLsn && lsn + bytes <= windowLsn + window.limit()) {
            return true;
        }
        StoreFile file = files.file(geometry.segmentOf(lsn));
        int offset = geometry.offsetOf(lsn);
        if (file == null || bytes > geometry.remaining(lsn) || bytes > file.size() - offset) {
            return false;
        }
        int length = Math.min(Math.max(bytes, readAheadBytes), geometry.remaining(lsn));
        if (window.capacity() < length) {
            window = allocate(Math.max(length, Math.min(2 * window.capacity(), geometry.segmentBytes())), file);
        }
        windowLsn = lsn;
        file.read(window.clear().limit(length), offset);
        return window.flip().limit() >= bytes;
    }

    private ByteBuffer allocate(int bytes, StoreFile file) throws IOException {
        try {
            return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
        } catch (OutOfMemoryError lacking) {
            long leastMebibytes = (geometry.segmentBytes() >> MEBIBYTE_SHIFT) + OTHER_MEBIBYTES;
            throw new IOException(
                    "Java has too little memory to read " + file.path() + " (" + lacking.getMessage()
                            + "): give it -Xmx" + leastMebibytes + "m or more, by CARAVAN_JAVA_OPTS for a server",
                    lacking);
        }
    }
}
