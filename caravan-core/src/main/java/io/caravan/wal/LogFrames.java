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
 * Reads the frames of a log, whole or damaged: the one at a position, the one that follows another, the next valid one
 * wherever it is. Nothing that it finds is an error; its callers decide whether to refuse or to go on. It holds a window of
 * the log in memory: as much as it reads ahead, or the largest frame so far.
 *
 * <p>For one thread.
 */
public final class LogFrames {
    /** In place of a position where there is none. */
    public static final long NOWHERE = -1;

    /** Bytes to read ahead in a log to which nothing is written: few calls for small frames, in a processor's cache. */
    public static final int READ_AHEAD_BYTES = 256 << 10;

    /** No bytes to read ahead, for a log to which others write: each request reads the file again. */
    public static final int NO_READ_AHEAD = 0;

    private static final int MEBIBYTE_SHIFT = 20;
    /** Direct memory that a store with the default settings needs beside a log segment, with some to spare. */
    private static final int OTHER_MEBIBYTES = 16;

    /** Finds the files that have the log's segments. */
    @FunctionalInterface
    public interface Files {
        /** The file of a segment, or null when it is not there. */
        @Nullable
        StoreFile file(long segment) throws IOException;
    }

    /** Takes the blocks in which no valid frame starts. */
    @FunctionalInterface
    public interface PassedBlocks {
        /** Nothing valid starts here; as much of it as it claims to have is in the window. */
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

    /** The bytes that were read last; those of a position are at {@link #at}. */
    public ByteBuffer window() {
        return window;
    }

    /** Index in the window of a position that was read last. */
    public int at(long lsn) {
        return (int) (lsn - windowLsn);
    }

    /** Whether a valid frame starts here; all of it is then in the window. */
    public boolean validAt(long lsn) throws IOException {
        if (!begunAt(lsn)) {
            return false;
        }
        int payloadBytes = window.getInt(at(lsn) + FrameLayout.PAYLOAD_BYTES);
        return payloadBytes >= 0
                && payloadBytes <= geometry.remaining(lsn) - FrameLayout.HEADER_BYTES
                && read(lsn, FrameLayout.HEADER_BYTES + payloadBytes)
                && FrameLayout.valid(window, at(lsn), storeId, lsn);
    }

    /** Whether something here says that it is the frame of this position; its header is then in the window. */
    public boolean begunAt(long lsn) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                && FrameLayout.magicAt(window, at(lsn))
                && window.getLong(at(lsn) + FrameLayout.LSN) == lsn;
    }

    /** The frame that follows another: at the position behind it, or first in the next segment; else nowhere. */
    public long following(long position, Link previous) throws IOException {
        if (followsAt(position, previous)) {
            return position;
        }
        long inNextSegment = firstBehind(position);
        return followsAt(inNextSegment, previous) ? inNextSegment : NOWHERE;
    }

    /** The frame at a position, or first in the next segment, whichever it follows; else nowhere. */
    long firstFrom(long position) throws IOException {
        if (validAt(position)) {
            return position;
        }
        return validAt(firstBehind(position)) ? firstBehind(position) : NOWHERE;
    }

    /** The bytes of the valid frame that was read last. */
    ByteBuffer frameAt(long lsn) {
        int bytes = FrameLayout.HEADER_BYTES + window.getInt(at(lsn) + FrameLayout.PAYLOAD_BYTES);
        return window.slice(at(lsn), bytes);
    }

    private boolean followsAt(long lsn, Link previous) throws IOException {
        return validAt(lsn) && FrameLayout.follows(window, at(lsn), previous);
    }

    /**
     * The first valid frame of a segment from a position on, whatever stands before it; else nowhere.
     *
     * @param term passes over frames of a lower one, which were cut off once
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

    /** Position of the first frame in the segment behind a position. */
    public long firstBehind(long lsn) {
        return geometry.firstFrame(geometry.segmentOf(lsn) + 1);
    }

    /** How the frame behind the one that was read last names it. */
    public Link linkOf(long lsn) {
        return FrameLayout.link(window, at(lsn));
    }

    /** Position behind the valid frame that was read last. */
    public long positionBehind(long lsn) {
        return geometry.positionAfter(
                lsn + FrameLayout.HEADER_BYTES + window.getInt(at(lsn) + FrameLayout.PAYLOAD_BYTES));
    }

    /** Payload bytes that a frame here has by its header, if that is right and they are there; else 0. */
    int claimedBytesAt(long lsn) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                ? Math.max(0, FrameLayout.claimedPayloadBytes(window, at(lsn), storeId, lsn))
                : 0;
    }

    /** How many fields of a header are those of the frame that should be here: of a damaged one most, of others few. */
    public int fieldsRight(long lsn, long previous) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                ? FrameLayout.fieldsRight(window, at(lsn), storeId, lsn, previous)
                : 0;
    }

    /** Gets so many bytes from a position on into the window; false when they are not there. */
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
