package io.caravan.wal;

import io.caravan.format.FrameLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames and forces them; used by the flusher only, but where it says otherwise.
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

    /** The oldest frame that this writer has written and not forced. */
    private long firstUnforcedLsn = NONE;

    private volatile @Nullable IOException forceFailure;

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

    /**
     * Completes a frame that follows the one written last. Returns its bytes up to the end of its last block.
     *
     * @param alone whether nobody else has the frames: then this one says whether all before it are forced
     */
    public ByteBuffer seal(LogBuffer frame, boolean alone) {
        int magic = alone && firstUnforcedSegment != NONE ? FrameLayout.MAGIC_BEHIND_UNFORCED : FrameLayout.MAGIC_VALUE;
        return frame.seal(magic, storeId, segments.geometry().segmentOf(frame.baseLsn()), previousLsn);
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
        if (firstUnforcedLsn == NONE) {
            firstUnforcedLsn = lsn;
        }
        return count;
    }

    /** Returns when every frame written so far is durable. */
    public void force() throws IOException {
        requireForcesWork();
        if (firstUnforcedSegment == NONE) {
            return;
        }
        try {
            for (long segment = firstUnforcedSegment; segment <= lastWrittenSegment; segment++) {
                segments.file(segment).force();
            }
        } catch (IOException failed) {
            forceFailed(failed);
        }
        requireForcesWork();
        firstUnforcedSegment = NONE;
        firstUnforcedLsn = NONE;
    }

    /**
     * A force of the log's files has failed, this writer's or somebody else's, so what this writer has not forced may never
     * come to the disk: its forces fail as that one did from here on. On any thread.
     */
    public void forceFailed(IOException failure) {
        forceFailure = failure;
    }

    /** Throws what a force of the log has failed with, if one has. On any thread. */
    public void requireForcesWork() throws IOException {
        IOException failure = forceFailure;
        if (failure != null) {
            throw failure;
        }
    }

    /** Whether a force of the log has failed. On any thread. */
    public boolean forceHasFailed() {
        return forceFailure != null;
    }

    /** Makes the frames invalid that were written since the last force, newest first, because theirs has failed; forces nothing. */
    public void withdraw() throws IOException {
        long lsn = previousLsn;
        while (firstUnforcedLsn != NONE && lsn >= firstUnforcedLsn) {
            long before = segments.previousLsn(lsn);
            segments.withdraw(lsn);
            lsn = before;
        }
        firstUnforcedLsn = NONE;
    }
}
