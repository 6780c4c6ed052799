package io.caravan.wal;

import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
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
    /** The term of this writer's own frames: higher than that of any frame before. */
    private int term;

    private Link last;
    /** Where the last frame ends. */
    private long position;
    /** The oldest segment with frames that are not forced; a forced segment may be recycled at any time. */
    private long firstUnforcedSegment = NONE;

    private long lastWrittenSegment = NONE;

    private volatile @Nullable IOException forceFailure;

    /** A writer that goes on where a recovery ended, once the log is forced up to there. */
    public LogWriter(LogSegments segments, long storeId, LogScanner.End end) {
        this.segments = segments;
        this.storeId = storeId;
        this.term = end.term() + 1;
        this.last = end.last();
        this.position = end.position();
    }

    /**
     * Completes a frame that follows the one written last. Returns its bytes up to the end of its last block.
     *
     * @param alone whether nobody else has the frames: then this one says whether all before it are forced
     */
    public ByteBuffer seal(LogBuffer frame, boolean alone) {
        if (!frame.filled()) {
            boolean behindUnforced = alone && firstUnforcedSegment != NONE;
            int magic = behindUnforced ? FrameLayout.MAGIC_BEHIND_UNFORCED : FrameLayout.MAGIC_VALUE;
            frame.seal(magic, storeId, term, last);
        }
        return frame.padded();
    }

    /** Hands a sealed frame to the operating system. Returns the bytes written. */
    public int write(LogBuffer frame, ByteBuffer sealed) throws IOException {
        long lsn = frame.baseLsn();
        LogGeometry geometry = segments.geometry();
        long segment = geometry.segmentOf(lsn);
        int count = sealed.remaining();
        segments.file(segment).write(sealed, geometry.offsetOf(lsn));
        last = FrameLayout.link(frame.memory(), 0);
        term = Math.max(term, frame.filled() ? last.term() + 1 : last.term());
        position = geometry.positionAfter(frame.endLsn());
        lastWrittenSegment = segment;
        if (firstUnforcedSegment == NONE) {
            firstUnforcedSegment = segment;
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
            // A force by another handle may have failed meanwhile.
            requireForcesWork();
            segments.forcedUpTo(position);
        } catch (IOException failed) {
            forceFailed(failed);
        }
        requireForcesWork();
        firstUnforcedSegment = NONE;
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
}
