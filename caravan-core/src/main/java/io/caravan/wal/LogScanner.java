package io.caravan.wal;

import io.caravan.CorruptStoreException;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.InvalidRecordException;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Visits the log's frames in order and finds its end. Refuses a log with damage.
 *
 * <p>The torn-tail rule. Frames follow each other block by block and, where the next one did not fit, at the start of
 * the next segment; each names the frame before it. Where no valid frame follows, the bytes are a torn tail (a frame
 * that a crash cut off, or nothing at all) only if no valid frame of this log stands anywhere behind. If one does, a
 * frame that was complete has been damaged, and opening would lose what followed: that is refused. There are two
 * exceptions. Where none of those behind says that the frames before it were forced, a power cut has taken one of the
 * frames since the last force, and the log ends before it. And a replica may be cut behind what it knows to be forced:
 * its group has what followed.
 */
public final class LogScanner {

    /** Takes frames in order. */
    @FunctionalInterface
    public interface FrameVisitor {
        /**
         * One valid frame. An {@link InvalidRecordException} comes out of the scan as the damage that it is.
         *
         * @param bytes has the whole frame
         * @param at index of the frame's header in them
         * @param lsn its position in the log
         */
        void frame(ByteBuffer bytes, int at, long lsn);
    }

    /**
     * Where the log ends.
     *
     * @param position where the next frame would start
     * @param last the last frame
     * @param frames how many valid frames there were
     * @param torn whether a frame was begun at the position that a crash cut off; its header may be lost, so a torn
     *     tail is not always seen
     * @param gap whether valid frames stand behind the position that are no longer part of the log
     * @param term the highest of all frames from the start on, those behind the position too
     */
    public record End(long position, Link last, long frames, boolean torn, boolean gap, int term) {
        /** Where nothing stands behind. */
        public End(long position, Link last, long frames, boolean torn) {
            this(position, last, frames, torn, false, last.term());
        }
    }

    /** What stands behind the log's end: valid frames that are not older than its last one, and the highest term of all. */
    private static final class Behind {
        final List<Long> valid = new ArrayList<>();
        int term;
    }

    /**
     * Torn frames may follow each other in a segment, but not overlap. More of them than this many segments hold cannot
     * be genuine, and checking them would sum the same bytes again and again.
     */
    private static final long MAX_CLAIMED_SEGMENTS = 4;

    private final LogSegments segments;
    private final LogGeometry geometry;
    private final LogFrames frames;

    public LogScanner(LogSegments segments, long storeId) {
        this.segments = segments;
        this.geometry = segments.geometry();
        this.frames = new LogFrames(geometry, storeId, this::file, LogFrames.READ_AHEAD_BYTES);
    }

    private @Nullable StoreFile file(long segment) throws IOException {
        if (!segments.ready(segment)) {
            return null;
        }
        segments.checkSize(segment);
        return segments.file(segment);
    }

    /**
     * Visits every frame from a position on. The segments from there on must be there without a gap.
     *
     * @param start where a frame starts, or the log's end
     * @param previous the frame before it
     * @param end the log must reach this position, or {@code start} when it is the same
     * @param forced up to where a replica knows its log to be forced: behind that a power cut may have taken any frame.
     *     Without it, the frames tell
     * @throws CorruptStoreException when a damaged frame that was forced has valid ones behind it, or the log ends
     *     before {@code end}
     */
    public End scan(long start, Link previous, long end, OptionalLong forced, FrameVisitor visitor) throws IOException {
        End found = visitFrames(start, previous, Long.MAX_VALUE, visitor);
        Behind behind = behind(found);
        boolean gap = !behind.valid.isEmpty();
        if (gap && wasForced(found, behind.valid, forced)) {
            refuse(found, behind.valid.get(0));
        }
        if (found.position() < end) {
            throw damaged(damagedFrame(found, end), "the log ends here, but a checkpoint needs it up to LSN " + end);
        }
        return new End(found.position(), found.last(), found.frames(), found.torn(), gap, behind.term);
    }

    /** Whether the frame that lacks where the log ends was forced once, as far as anybody can tell. */
    private boolean wasForced(End found, List<Long> behind, OptionalLong forced) throws IOException {
        if (forced.isPresent()) {
            return found.position() < forced.getAsLong();
        }
        for (long lsn : behind) {
            if (frames.begunAt(lsn) && FrameLayout.afterForce(frames.window(), frames.at(lsn))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Visits every frame up to a position that the log is known to reach; it may be written to behind that.
     *
     * @return how many frames there were
     * @throws CorruptStoreException when one of them is damaged
     */
    public long scanUpTo(long start, Link previous, long reached, FrameVisitor visitor) throws IOException {
        End found = visitFrames(start, previous, reached, visitor);
        if (found.position() < reached) {
            throw damaged(damagedFrame(found, reached), "no valid frame, though the log reaches LSN " + reached);
        }
        return found.frames();
    }

    /** Where the frames that follow each other from a position on end, whatever stands behind. */
    public long endOfFrames(long start, Link previous, FrameVisitor visitor) throws IOException {
        return visitFrames(start, previous, Long.MAX_VALUE, visitor).position();
    }

    private End visitFrames(long start, Link before, long until, FrameVisitor visitor) throws IOException {
        long position = start;
        Link previous = before;
        long count = 0;
        while (position < until) {
            long next = frames.following(position, previous);
            if (next == LogFrames.NOWHERE) {
                break;
            }
            visit(visitor, next);
            previous = frames.linkOf(next);
            count++;
            position = frames.positionBehind(next);
        }
        return new End(position, previous, count, frames.begunAt(position));
    }

    private void visit(FrameVisitor visitor, long lsn) {
        try {
            visitor.frame(frames.window(), frames.at(lsn), lsn);
        } catch (InvalidRecordException invalid) {
            throw invalid.in(segments.describe(geometry.segmentOf(lsn)), geometry.offsetOf(invalid.lsn()));
        }
    }

    private Behind behind(End found) throws IOException {
        Behind behind = new Behind();
        behind.term = found.last().term();
        if (!segments.isEmpty()) {
            for (long segment = geometry.segmentOf(found.position()); segment <= segments.last(); segment++) {
                addFramesIn(segment, found, behind);
            }
        }
        return behind;
    }

    private void addFramesIn(long segment, End found, Behind behind) throws IOException {
        long[] claimedBytes = {0};
        LogFrames.PassedBlocks blocks = lsn -> {
            claimedBytes[0] += frames.claimedBytesAt(lsn);
            if (claimedBytes[0] > MAX_CLAIMED_SEGMENTS * geometry.segmentBytes()) {
                throw damaged(lsn, "frames that are not valid overlap here, which no crash leaves");
            }
        };
        long lsn = frames.firstValid(segment, found.position(), 0, blocks);
        while (lsn != LogFrames.NOWHERE) {
            int term = FrameLayout.term(frames.window(), frames.at(lsn));
            behind.term = Math.max(behind.term, term);
            if (term >= found.last().term()) {
                behind.valid.add(lsn);
            }
            lsn = frames.firstValid(segment, frames.positionBehind(lsn), 0, blocks);
        }
    }

    private void refuse(End found, long validLsn) throws IOException {
        long position = found.position();
        long damaged = damagedFrame(found, validLsn);
        // Nothing tells which when the frame's header is gone altogether.
        boolean orSkipped = damaged == position && frames.firstBehind(position) < validLsn;
        String orNext = orSkipped ? " nor first in " + segments.describe(geometry.segmentOf(position) + 1) : "";
        throw damaged(
                damaged,
                "no valid frame" + orNext + ", though the log goes on with one at LSN " + validLsn
                        + "; restore the directory from a backup, or cut the log off here with repair, losing what"
                        + " follows");
    }

    /** Where the frame is that should follow: it may have skipped to the next segment, if that lies before what is known. */
    private long damagedFrame(End found, long known) throws IOException {
        long position = found.position();
        long skipped = frames.firstBehind(position);
        boolean isThere = skipped < known
                && frames.fieldsRight(skipped, found.last().lsn())
                        > frames.fieldsRight(position, found.last().lsn());
        return isThere ? skipped : position;
    }

    private CorruptStoreException damaged(long position, String problem) {
        String path = segments.describe(geometry.segmentOf(position));
        return new CorruptStoreException(path, geometry.offsetOf(position), "LSN " + position + ": " + problem);
    }
}
