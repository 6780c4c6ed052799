package io.caravan.wal;

import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes and fsyncs frames. Used by one flush at a time, except where a method says otherwise.
 *
 * <p>Each frame is written at its LSN with one positional write, which starts at a block, so a block is written only
 * once. An fsync covers every segment written since the last fsync.
 */
public final class LogWriter {
    private static final long NONE = -1;

    private final LogSegments segments;
    private final long storeId;
    /** The term of this writer's own frames, higher than that of any earlier frame. */
    private int term;

    private Link last;
    /** Position after the last frame written. */
    private long position;
    /** The oldest segment with frames that are not fsynced. Earlier segments may be recycled at any time. */
    private long firstUnforcedSegment = NONE;

    private long lastWrittenSegment = NONE;

    private volatile @Nullable IOException forceFailure;

    /** Creates a writer that continues at the end of a recovered log, which must be fsynced. */
    public LogWriter(LogSegments segments, long storeId, LogScanner.End end) {
        this.segments = segments;
        this.storeId = storeId;
        this.term = end.term() + 1;
        this.last = end.last();
        this.position = end.position();
    }

    /**
     * Completes a frame that follows the last frame written. Returns the completed frame's bytes, up to the end of the
     * last block.
     *
     * @param alone whether no other node has the frames; if so, the frame records whether all earlier frames are
     *     fsynced
     */
    public ByteBuffer seal(LogBuffer frame, boolean alone) {
        if (!frame.filled()) {
            boolean behindUnforced = alone && firstUnforcedSegment != NONE;
            int magic = behindUnforced ? FrameLayout.MAGIC_BEHIND_UNFORCED : FrameLayout.MAGIC_VALUE;
            frame.seal(magic, storeId, term, last);
        }
        return frame.padded();
    }

    /** Writes a sealed frame to the log file, without an fsync. Returns the number of bytes written. */
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

    /** Makes every frame written so far durable. */
    public void force() throws IOException {
        requireForcesWork();
        if (firstUnforcedSegment == NONE) {
            return;
        }
        try {
            for (long segment = firstUnforcedSegment; segment <= lastWrittenSegment; segment++) {
                segments.file(segment).force();
            }
            // An fsync through another file handle may have failed in the meantime.
            requireForcesWork();
            segments.forcedUpTo(position);
        } catch (IOException failed) {
            forceFailed(failed);
        }
        requireForcesWork();
        firstUnforcedSegment = NONE;
    }

    /**
     * Records that an fsync of the log's files failed, on this or another thread. Frames that this writer has not
     * fsynced may never reach the disk, so later fsyncs of this writer fail with the same error. May be called on any
     * thread.
     */
    public void forceFailed(IOException failure) {
        forceFailure = failure;
    }

    /** Throws the recorded error if an fsync of the log has failed. May be called on any thread. */
    public void requireForcesWork() throws IOException {
        IOException failure = forceFailure;
        if (failure != null) {
            throw failure;
        }
    }

    /** Whether an fsync of the log has failed. May be called on any thread. */
    public boolean forceHasFailed() {
        return forceFailure != null;
    }
}
