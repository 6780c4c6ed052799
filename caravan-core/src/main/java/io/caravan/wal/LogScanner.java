package io.caravan.wal;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.InvalidRecordException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.OptionalLong;

/**
 * Visits the frames of a log in order and finds the end of the log. Refuses a damaged log.
 *
 * <p>A frame starts in the block after the previous frame or, if it did not fit there, at the start of the next
 * segment. Each frame refers to its predecessor.
 *
 * <p>The scan stops at the first position at which no valid frame follows the previous frame. If no valid frame of this
 * log exists after that position, the bytes there are at most a torn tail, which a crash may leave. Otherwise a
 * complete frame has been damaged. The log is then refused, because opening it would lose the later frames. There are
 * two exceptions:
 * <ul>
 *   <li>None of the later frames records that the earlier frames were fsynced. In this case, a power failure has
 *       removed a frame written after the last fsync, and the log ends before that frame.
 *   <li>The store is a replica, and the damage is after the replica's fsynced position. In this case, the log ends
 *       before the damage, because the replica's group has the later frames.
 * </ul>
 */
public final class LogScanner {

    /** Receives the valid frames of the log, in log order. */
    @FunctionalInterface
    public interface FrameVisitor {
        /**
         * Visits a valid frame. If this method throws an {@link InvalidRecordException}, the scan reports it as damage.
         *
         * @param bytes contains the entire frame
         * @param at index of the frame's header in {@code bytes}
         * @param lsn the frame's position in the log
         */
        void frame(ByteBuffer bytes, int at, long lsn);
    }

    /**
     * The end of the log.
     *
     * @param position the position of the next frame
     * @param last the last frame
     * @param frames the number of valid frames
     * @param torn whether a crash cut off a frame at the position; the header of that frame may be lost, so a torn tail
     *     is not always detected
     * @param gap whether valid frames that are no longer part of the log exist after the position
     * @param term the highest term of all frames from the start, including those after the position
     */
    public record End(long position, Link last, long frames, boolean torn, boolean gap, int term) {
        /** Creates a log end that is followed by no valid frames. */
        public End(long position, Link last, long frames, boolean torn) {
            this(position, last, frames, torn, false, last.term());
        }
    }

    /**
     * A position that the log has reached.
     *
     * @param lsn the position
     * @param path the checkpoint that shows this; it may be damaged
     */
    public record ProvenEnd(long lsn, String path) {}

    /**
     * The maximum total size, in segments, that the torn frames in one segment may claim. Torn frames may follow each
     * other in a segment, but do not overlap. Frames that claim more cannot be genuine, and a check of these frames
     * would read the same bytes repeatedly.
     */
    private static final long MAX_CLAIMED_SEGMENTS = 4;

    private final LogSegments segments;
    private final LogGeometry geometry;
    private final LogFrames frames;

    public LogScanner(LogSegments segments) {
        this.segments = segments;
        this.geometry = segments.geometry();
        this.frames = segments.frames(LogFrames.READ_AHEAD_BYTES);
    }

    /**
     * Visits every frame from a position on, and finds the end of the log. The segments from there on must exist
     * without a gap.
     *
     * @param start the position of a frame, or the log's end
     * @param previous the frame before {@code start}
     * @param proven the position that the log must reach; may equal {@code start}
     * @param forced the position up to which a replica's log is known to be fsynced, after which a power failure may
     *     have removed any frame. If it is empty, the magics of the frames show which frames were fsynced
     * @param beingWritten whether another process writes the log during the scan; frames after the end that the scan
     *     has found may then be new
     * @throws CorruptStoreException if a damaged frame that was fsynced has valid frames after it, or the log ends
     *     before {@code proven}
     */
    public End scan(
            long start,
            Link previous,
            ProvenEnd proven,
            OptionalLong forced,
            boolean beingWritten,
            FrameVisitor visitor)
            throws IOException {
        End found = visitFrames(start, previous, Long.MAX_VALUE, visitor);
        Behind behind = behind(found);
        boolean gap = behind.first() != LogFrames.NOWHERE && !(beingWritten && hasGrown(found));
        boolean wasForced = forced.isPresent() ? found.position() < forced.getAsLong() : behind.afterForce();
        if (gap && wasForced) {
            reject(found, behind.first());
        }
        if (found.position() < proven.lsn()) {
            throw damaged(
                    damagedFrame(found, proven.lsn()),
                    "the log ends here, but " + proven.path() + " shows that it reached LSN " + proven.lsn()
                            + "; restore the directory from a backup, or, if that checkpoint is damaged too, cut the"
                            + " log off here with repair, losing what followed");
        }
        return new End(found.position(), found.last(), found.frames(), found.torn(), gap, behind.term());
    }

    /** Whether the log has grown since its end was found. Reads the file again. */
    private boolean hasGrown(End found) throws IOException {
        return segments.frames(LogFrames.NO_READ_AHEAD).following(found.position(), found.last()) != LogFrames.NOWHERE;
    }

    /**
     * Visits every frame up to a position that the log is known to reach. The log may be written after that position.
     *
     * @throws CorruptStoreException if one of these frames is damaged
     */
    public End scanUpTo(long start, Link previous, long reached, FrameVisitor visitor) throws IOException {
        End found = visitFrames(start, previous, reached, visitor);
        if (found.position() < reached) {
            throw damaged(damagedFrame(found, reached), "no valid frame, though the log reaches LSN " + reached);
        }
        return found;
    }

    /** Visits the consecutive valid frames from one position to another, regardless of later bytes. */
    public End visitFrames(long start, Link before, long until, FrameVisitor visitor) throws IOException {
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

    /**
     * The frames after the log's end.
     *
     * @param first the first valid frame whose term is not lower than the term of the log's last frame
     * @param afterForce whether any such frame records that the earlier frames were fsynced
     * @param term the highest term of all frames, including torn frames
     */
    private record Behind(long first, boolean afterForce, int term) {}

    private Behind behind(End found) throws IOException {
        long first = LogFrames.NOWHERE;
        boolean afterForce = false;
        int highest = found.last().term();
        for (long segment = geometry.segmentOf(found.position()); segment <= segments.last(); segment++) {
            long claimedBytes = 0;
            long lsn = Math.max(found.position(), geometry.firstFrame(segment));
            while (lsn < geometry.startOf(segment + 1)) {
                boolean begun = frames.begunAt(lsn);
                boolean valid = begun && frames.validAt(lsn);
                int claimed = begun && !valid ? frames.claimedBytesAt(lsn) : 0;
                int term = valid || claimed > 0 ? FrameLayout.term(frames.window(), frames.at(lsn)) : 0;
                highest = Math.max(highest, term);
                claimedBytes += claimed;
                if (claimedBytes > MAX_CLAIMED_SEGMENTS * geometry.segmentBytes()) {
                    throw damaged(lsn, "frames that are not valid overlap here, which no crash leaves");
                }
                if (valid && term >= found.last().term()) {
                    first = first == LogFrames.NOWHERE ? lsn : first;
                    afterForce |= FrameLayout.afterForce(frames.window(), frames.at(lsn));
                }
                lsn = valid ? frames.positionBehind(lsn) : lsn + Blocks.BLOCK_BYTES;
            }
        }
        return new Behind(first, afterForce, highest);
    }

    private void reject(End found, long validLsn) throws IOException {
        long position = found.position();
        long damaged = damagedFrame(found, validLsn);
        // If the header of the missing frame is lost, the frame may have been at either position.
        boolean orSkipped = damaged == position && frames.firstBehind(position) < validLsn;
        String orNext = orSkipped ? " nor first in " + segments.describe(geometry.segmentOf(position) + 1) : "";
        throw damaged(
                damaged,
                "no valid frame" + orNext + ", though the log continues with a frame at LSN " + validLsn
                        + "; restore the directory from a backup, or cut the log off here with repair, losing what"
                        + " follows");
    }

    /**
     * Returns the position of the missing frame: the start of the next segment if that start precedes the known
     * position and has more matching header fields, otherwise the end of the log.
     */
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
