package io.caravan.wal;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Writes frames and forces them; used by the flusher only.
 *
 * <p>A frame is one positional write at the position that its LSN says, from the start of a block, so a block that was
 * written is never written again. A force covers every segment written since the last one.
 */
public final class LogWriter {
    private static final long NONE = -1;

    private final LogSegments segments;
    private final long storeId;
    private long previousLsn;
    /** The oldest segment with frames that are not forced; a forced segment may be recycled at any time. */
    private long firstUnforcedSegment;

    private long lastWrittenSegment;

    /**
     * A writer that goes on where a recovery ended.
     *
     * @param start where the recovery's replay started
     * @param end the log's end; frames before it may never have been forced by the process that wrote them
     */
    public LogWriter(LogSegments segments, long storeId, long start, LogScanner.End end) {
        this.segments = segments;
        this.storeId = storeId;
        this.previousLsn = end.previousLsn();
        boolean replayed = end.frames() > 0;
        this.firstUnforcedSegment = replayed ? segments.geometry().segmentOf(start) : NONE;
        this.lastWrittenSegment = replayed ? segments.geometry().segmentOf(end.previousLsn()) : NONE;
    }

    /** Completes a frame that follows the one written last. Returns its bytes up to the end of its last block. */
    public ByteBuffer seal(LogBuffer frame) {
        return frame.seal(storeId, segments.geometry().segmentOf(frame.baseLsn()), previousLsn);
    }

    /** Hands a sealed frame to the operating system. Returns the bytes written. */
    public int write(LogBuffer frame, ByteBuffer sealed) throws IOException {
        long lsn = frame.baseLsn();
        LogGeometry geometry = segments.geometry();
        long segment = geometry.segmentOf(lsn);
        int count = sealed.remaining();
        segments.file(segment).write(sealed, geometry.offsetOf(lsn));
        previousLsn = lsn;
        lastWrittenSegment = segment;
        if (firstUnforcedSegment == NONE) {
            firstUnforcedSegment = segment;
        }
        return count;
    }

    /** Returns when every frame written so far is durable. */
    public void force() throws IOException {
        if (firstUnforcedSegment == NONE) {
            return;
        }
        for (long segment = firstUnforcedSegment; segment <= lastWrittenSegment; segment++) {
            segments.file(segment).force();
        }
        firstUnforcedSegment = NONE;
    }

    /** Makes the frame that was written last invalid, because its force has failed; forces nothing. */
    public void withdraw(LogBuffer frame) throws IOException {
        if (!frame.isEmpty()) {
            segments.withdraw(frame.baseLsn());
        }
    }
}
