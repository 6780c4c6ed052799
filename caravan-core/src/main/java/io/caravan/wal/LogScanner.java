package io.caravan.wal;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.FrameLayout;
import io.caravan.format.InvalidRecordException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads the log's frames in order and finds its end.
 *
 * <p>The torn-tail rule. Frames follow each other block by block and, where the next one did not fit, at the start of
 * the next segment; each names the frame before it. Where no valid frame follows, the bytes are a torn tail (a frame
 * that a crash cut off, or nothing at all) only if no valid frame of this log stands anywhere behind. If one does, a
 * frame that was complete has been damaged, and opening would lose what followed: that is refused.
 */
public final class LogScanner {

    /** Takes frames in order. */
    @FunctionalInterface
    public interface FrameVisitor {
        /**
         * One valid frame. An {@link InvalidRecordException} comes out of the scan as the damage that it is.
         *
         * @param segment the segment's bytes
         * @param at index of the frame's header in them
         * @param lsn its position in the log
         */
        void frame(ByteBuffer segment, int at, long lsn);
    }

    /**
     * Where the log ends.
     *
     * @param position where the next frame would start
     * @param previousLsn the last frame, or {@link FrameLayout#NO_FRAME}
     * @param frames how many valid frames there were
     * @param torn whether a frame was begun at the position that a crash cut off; its header may be lost, so a torn
     *     tail is not always seen
     */
    public record End(long position, long previousLsn, long frames, boolean torn) {}

    /** In place of a position where there is none. */
    public static final long NOWHERE = -1;

    /**
     * Torn frames may follow each other in a segment, but not overlap. More of them than this many segments hold cannot
     * be genuine, and checking them would sum the same bytes again and again.
     */
    private static final long MAX_CLAIMED_SEGMENTS = 4;

    private final LogSegments segments;
    private final LogGeometry geometry;
    private final long storeId;
    /** A segment's bytes; allocated for the first that is there and has its size. */
    private ByteBuffer memory = ByteBuffer.allocate(0);

    private long loadedSegment = -1;

    public LogScanner(LogSegments segments, long storeId) {
        this.segments = segments;
        this.geometry = segments.geometry();
        this.storeId = storeId;
    }

    /**
     * Visits every frame from a position on. The segments from there on must be there without a gap.
     *
     * @param start where a frame starts, or the log's end
     * @param previousLsn the frame before it
     * @param end the log must reach this position, or {@code start} when it is the same
     * @throws CorruptStoreException when a damaged frame has valid ones behind it, or the log ends before {@code end}
     */
    public End scan(long start, long previousLsn, long end, FrameVisitor visitor) throws IOException {
        End found = visitFrames(start, previousLsn, Long.MAX_VALUE, visitor);
        refuseValidFramesBehind(found);
        if (found.position() < end) {
            throw damaged(damagedFrame(found, end), "the log ends here, but a checkpoint needs it up to LSN " + end);
        }
        return found;
    }

    /**
     * Visits every frame up to a position that the log is known to reach; it may be written to behind that.
     *
     * @return how many frames there were
     * @throws CorruptStoreException when one of them is damaged
     */
    public long scanUpTo(long start, long previousLsn, long reached, FrameVisitor visitor) throws IOException {
        End found = visitFrames(start, previousLsn, reached, visitor);
        if (found.position() < reached) {
            throw damaged(damagedFrame(found, reached), "no valid frame, though the log reaches LSN " + reached);
        }
        return found.frames();
    }

    /** Where the frames that follow each other from a position on end, whatever stands behind. */
    public long endOfFrames(long start, long previousLsn, FrameVisitor visitor) throws IOException {
        return visitFrames(start, previousLsn, Long.MAX_VALUE, visitor).position();
    }

    private End visitFrames(long start, long previousLsn, long until, FrameVisitor visitor) throws IOException {
        long position = start;
        long previous = previousLsn;
        long frames = 0;
        while (position < until) {
            long next = locate(position, previous);
            if (next == NOWHERE) {
                break;
            }
            int at = geometry.offsetOf(next);
            visit(visitor, at, next);
            previous = next;
            frames++;
            position = geometry.positionAfter(
                    next + FrameLayout.HEADER_BYTES + memory.getInt(at + FrameLayout.PAYLOAD_BYTES));
        }
        return new End(position, previous, frames, frameBegunAt(position));
    }

    private void visit(FrameVisitor visitor, int at, long lsn) {
        try {
            visitor.frame(memory, at, lsn);
        } catch (InvalidRecordException invalid) {
            throw invalid.in(segments.describe(geometry.segmentOf(lsn)), geometry.offsetOf(invalid.lsn()));
        }
    }

    /** The frame that follows: at the position itself, or first in the next segment. */
    private long locate(long position, long previous) throws IOException {
        if (validAt(position) && previousOf(position) == previous) {
            return position;
        }
        long inNextSegment = firstBehind(position);
        if (validAt(inNextSegment) && previousOf(inNextSegment) == previous) {
            return inNextSegment;
        }
        return NOWHERE;
    }

    private boolean validAt(long lsn) throws IOException {
        return present(lsn) && FrameLayout.valid(memory, geometry.offsetOf(lsn), identity(lsn));
    }

    private boolean frameBegunAt(long lsn) throws IOException {
        int at = geometry.offsetOf(lsn);
        return present(lsn)
                && memory.limit() - at >= FrameLayout.HEADER_BYTES
                && memory.getInt(at + FrameLayout.MAGIC) == FrameLayout.MAGIC_VALUE
                && memory.getLong(at + FrameLayout.LSN) == lsn;
    }

    private FrameLayout.Identity identity(long lsn) {
        return new FrameLayout.Identity(lsn, storeId, geometry.segmentOf(lsn));
    }

    /** Whether the segment of this position is there; it is then in memory. */
    private boolean present(long lsn) throws IOException {
        long segment = geometry.segmentOf(lsn);
        if (!segments.ready(segment)) {
            return false;
        }
        load(segment);
        return true;
    }

    private long previousOf(long lsn) {
        return memory.getLong(geometry.offsetOf(lsn) + FrameLayout.PREVIOUS_LSN);
    }

    private void load(long segment) throws IOException {
        if (segment == loadedSegment) {
            return;
        }
        segments.checkSize(segment);
        if (memory.capacity() == 0) {
            memory = ByteBuffer.allocateDirect(geometry.segmentBytes()).order(ByteOrder.LITTLE_ENDIAN);
        }
        loadedSegment = -1;
        memory.clear();
        segments.file(segment).read(memory, 0);
        memory.flip();
        loadedSegment = segment;
    }

    private void refuseValidFramesBehind(End found) throws IOException {
        if (segments.isEmpty()) {
            return;
        }
        for (long segment = geometry.segmentOf(found.position()); segment <= segments.last(); segment++) {
            refuseValidFramesIn(segment, found);
        }
    }

    private void refuseValidFramesIn(long segment, End found) throws IOException {
        long from = Math.max(found.position(), geometry.firstFrame(segment));
        long claimedBytes = 0;
        for (long lsn = from; lsn < geometry.startOf(segment + 1); lsn += Blocks.BLOCK_BYTES) {
            if (validAt(lsn)) {
                refuse(found, lsn);
            }
            claimedBytes += claimedBytesAt(lsn);
            if (claimedBytes > MAX_CLAIMED_SEGMENTS * geometry.segmentBytes()) {
                throw damaged(lsn, "frames that are not valid overlap here, which no crash leaves");
            }
        }
    }

    private int claimedBytesAt(long lsn) throws IOException {
        return present(lsn)
                ? Math.max(0, FrameLayout.claimedPayloadBytes(memory, geometry.offsetOf(lsn), identity(lsn)))
                : 0;
    }

    private void refuse(End found, long validLsn) throws IOException {
        long position = found.position();
        long damaged = damagedFrame(found, validLsn);
        // Nothing tells which when the frame's header is gone altogether.
        boolean orSkipped = damaged == position && firstBehind(position) < validLsn;
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
        long skipped = firstBehind(position);
        boolean isThere = skipped < known
                && fieldsRight(skipped, found.previousLsn()) > fieldsRight(position, found.previousLsn());
        return isThere ? skipped : position;
    }

    private long firstBehind(long position) {
        return geometry.firstFrame(geometry.segmentOf(position) + 1);
    }

    /** How many fields of a header are those of the frame that should be here: of a damaged one most, of others few. */
    private int fieldsRight(long lsn, long previous) throws IOException {
        return present(lsn) ? FrameLayout.fieldsRight(memory, geometry.offsetOf(lsn), identity(lsn), previous) : 0;
    }

    private CorruptStoreException damaged(long position, String problem) {
        String path = segments.describe(geometry.segmentOf(position));
        return new CorruptStoreException(path, geometry.offsetOf(position), "LSN " + position + ": " + problem);
    }
}
