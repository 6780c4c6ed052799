package io.caravan.wal;

import io.caravan.io.StoreFile;
import java.io.IOException;

/**
 * Writes frames and forces them; used by the flusher only.
 *
 * <p>A frame is one positional write at the position that its LSN says, from the start of a block, so a block that was
 * written is never written again. A force covers every segment written since the last one.
 */
public final class LogWriter {
    private final LogSegments segments;
    private final long storeId;
    private long previousLsn;
    private long firstUnforcedSegment;
    private long lastWrittenSegment;

    /**
     * A writer that goes on where a recovery ended.
     *
     * @param end the log's end
     * @param unforced frames from here on may never have been forced by the process that wrote them
     */
    public LogWriter(LogSegments segments, long storeId, LogScanner.End end, long unforced) {
        this.segments = segments;
        this.storeId = storeId;
        this.previousLsn = end.previousLsn();
        this.firstUnforcedSegment = segments.geometry().segmentOf(unforced);
        this.lastWrittenSegment = segments.geometry().segmentOf(end.frames() > 0 ? end.previousLsn() : unforced);
    }

    /** Hands a frame to the operating system. Returns the bytes written. */
    public int write(LogBuffer frame) throws IOException {
        long lsn = frame.baseLsn();
        LogGeometry geometry = segments.geometry();
        long segment = geometry.segmentOf(lsn);
        var bytes = frame.seal(storeId, segment, previousLsn);
        int count = bytes.remaining();
        segments.file(segment).write(bytes, geometry.offsetOf(lsn));
        previousLsn = lsn;
        lastWrittenSegment = segment;
        return count;
    }

    /** Returns when every frame written so far is durable. */
    public void force() throws IOException {
        for (long segment = firstUnforcedSegment; segment <= lastWrittenSegment; segment++) {
            StoreFile file = segments.file(segment);
            file.force();
        }
        firstUnforcedSegment = lastWrittenSegment;
    }

    /** LSN of the last frame written. */
    public long previousLsn() {
        return previousLsn;
    }
}
