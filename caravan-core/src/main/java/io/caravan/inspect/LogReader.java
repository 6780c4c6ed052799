package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.io.FileStorage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogFrames;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a log frame by frame. Another process may write and recycle the log in the meantime, and parts of the log may
 * be damaged. The reader takes no lock, writes nothing, and keeps one frame in memory.
 *
 * <p>{@link LogFrames} finds the next frame, as it does for {@link io.caravan.wal.LogScanner}. The scanner refuses a
 * damaged log, whereas this reader reports the damage and continues. If no frame follows, there are three cases: (1)
 * the segment was recycled; (2) the log is damaged, if a valid frame exists anywhere later; (3) the log ends here for
 * now. A frame may be visited as soon as it is written, shortly before it is durable.
 *
 * <p>Not thread-safe.
 */
public final class LogReader implements AutoCloseable {
    private final DamagedFiles files;
    private final LogGeometry geometry;
    private final long from;
    private final LogFrames frames;
    private long visitedSegment = -1;
    /** The position of the next frame, if the frame fits there. */
    private long position;
    /** The link to the frame before {@code position}, as it was read; null if unknown. */
    private @Nullable Link previous;
    /** Whether all existing segments have been searched for later valid frames. */
    private boolean searched;

    LogReader(DamagedFiles files, long from) throws IOException {
        this.files = files;
        this.geometry = files.log;
        this.frames = new LogFrames(geometry, files.storeId, files::segment, LogFrames.NO_READ_AHEAD);
        TreeSet<Long> segments = segments();
        if (segments.isEmpty()) {
            throw new StoreDirectoryException(files.storage.describe("") + " has no segment of the log");
        }
        long wanted = geometry.segmentOf(from);
        Long there = segments.floor(wanted);
        long otherwise = from > 0 ? wanted : segments.first();
        this.position = geometry.firstFrame(there == null ? otherwise : there);
        this.from = from;
        if (!frames.validAt(position)) {
            skipToCheckpoint();
        }
    }

    /**
     * Skips to the start LSN of the oldest intact checkpoint if that LSN is in this segment and no frame precedes it. A
     * backup has zeros in place of the earlier frames.
     */
    private void skipToCheckpoint() throws IOException {
        for (long number : FileNames.CHECKPOINT.numbers(files.storage.list())) {
            try (CheckpointReader checkpoint = new CheckpointReader(files.storage, number)) {
                long start = checkpoint.header().startLsn();
                long segment = geometry.segmentOf(position);
                long valid = frames.firstValid(segment, position, 0, passed -> {});
                if (geometry.segmentOf(start) == segment && (valid == LogFrames.NOWHERE || valid >= start)) {
                    position = start;
                    previous = checkpoint.header().previous();
                }
                return;
            } catch (CaravanException | NoSuchFileException damagedOrGone) {
                // A later checkpoint may be intact.
            }
        }
    }

    /**
     * Opens the log of a store for reading. Another process may have the store open.
     *
     * @param from LSN of the first wanted record; 0 for all records
     * @throws StoreDirectoryException if the store does not exist
     */
    public static LogReader open(Path directory, long from) throws IOException {
        return new LogReader(new DamagedFiles(FileStorage.readOnly(directory)), from);
    }

    /** Returns the expected position of the next frame, after everything that was visited. */
    public long position() {
        return position;
    }

    /** Visits the next frame, or reports why it is missing. Returns false at the log's current end. */
    public boolean next(StoreVisitor visitor) throws IOException {
        if (readNext(visitor) || passMissingSegments(visitor)) {
            return true;
        }
        // While the next segment has no frame, no later valid frame can have appeared since the search.
        if (searched && !frames.validAt(frames.firstBehind(position))) {
            return false;
        }
        long behind = firstValidBehind();
        if (behind == LogFrames.NOWHERE) {
            searched = true;
            return false;
        }
        // Both the expected frame and the later frame may have been written in the meantime, or may have been recycled.
        if (readNext(visitor) || passMissingSegments(visitor)) {
            return true;
        }
        visitor.damaged(noFrame("though the log continues with a frame at LSN " + behind));
        resumeAt(behind);
        return true;
    }

    /** Reports damage if the log, read to its end, does not reach this position. */
    public void requireReached(long needed, StoreVisitor visitor) {
        if (position < needed) {
            visitor.damaged(noFrame("though a checkpoint needs the log up to LSN " + needed));
        }
    }

    private CorruptStoreException noFrame(String though) {
        return new CorruptStoreException(
                files.describe(geometry.segmentOf(position)),
                geometry.offsetOf(position),
                "LSN " + position + ": no valid frame, " + though);
    }

    /** Whether an incomplete frame starts at the position, because it is being written or a crash has cut it off. */
    public boolean torn() throws IOException {
        return frames.begunAt(position) && !frames.validAt(position);
    }

    private boolean readNext(StoreVisitor visitor) throws IOException {
        long next = previous == null
                ? frames.validAt(position) ? position : LogFrames.NOWHERE
                : frames.following(position, previous);
        if (next == LogFrames.NOWHERE) {
            return false;
        }
        visit(next, visitor);
        return true;
    }

    private void visit(long lsn, StoreVisitor visitor) throws IOException {
        previous = frames.linkOf(lsn);
        position = frames.positionBehind(lsn);
        if (position <= from) {
            return;
        }
        long segment = geometry.segmentOf(lsn);
        visitSegment(segment, visitor);
        forEachRecord(
                lsn,
                lsn,
                (at, id, sequence, entryLsn, buffer, entryAt, length) ->
                        visitor.ahead(id, buffer.slice(entryAt + EntryLayout.VALUE, length)));
        InvalidRecordException invalid = forEachRecord(lsn, from, visitor);
        if (invalid != null) {
            visitor.damaged(invalid.in(files.describe(segment), geometry.offsetOf(invalid.lsn())));
        }
    }

    /** Visits the records of the frame that was read last, from this LSN on. Returns the first invalid record. */
    private @Nullable InvalidRecordException forEachRecord(long lsn, long first, RecordLayout.Visitor visitor) {
        try {
            RecordLayout.forEachInFrame(frames.window(), frames.at(lsn), lsn, first, visitor);
            return null;
        } catch (InvalidRecordException invalid) {
            return invalid;
        }
    }

    private void visitSegment(long segment, StoreVisitor visitor) throws IOException {
        if (segment == visitedSegment) {
            return;
        }
        visitedSegment = segment;
        visitor.segment(segment, files.describe(segment));
        ByteBuffer header = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        StoreFile source = files.segment(segment);
        if (source == null) {
            return;
        }
        source.read(header, 0);
        try {
            FileHeader.check(
                    header.flip(),
                    FileNames.LOG.letters(),
                    new FileHeader.Fields(files.storeId, segment, geometry.segmentBytes()),
                    source.path());
        } catch (CaravanException wrong) {
            // If the segment was recycled after its frame was read correctly, its file has the header of another
            // segment.
            if (segments().contains(segment)) {
                visitor.damaged(
                        wrong instanceof CorruptStoreException damage
                                ? damage
                                : new CorruptStoreException(source.path(), 0, String.valueOf(wrong.getMessage())));
            }
        }
    }

    /**
     * Reports and skips missing segments. Segments are removed only from the beginning of the log, so a missing segment
     * that precedes all others was recycled.
     */
    private boolean passMissingSegments(StoreVisitor visitor) throws IOException {
        TreeSet<Long> segments = segments();
        long segment = geometry.segmentOf(position);
        Long there = segments.ceiling(segment);
        if (there == null || there == segment) {
            return false;
        }
        long next = geometry.firstFrame(there);
        if (segments.lower(segment) == null) {
            if (from < next) {
                visitor.missed(Math.max(position, from), next);
            }
        } else {
            visitor.damaged(new CorruptStoreException(
                    files.describe(segment), 0, "is missing, though " + FileNames.LOG.of(there) + " is there"));
        }
        resumeAt(next);
        return true;
    }

    private void resumeAt(long lsn) {
        position = lsn;
        previous = null;
        searched = false;
    }

    /**
     * Returns the position of the first valid frame after the current position. Returns {@link LogFrames#NOWHERE} if no
     * later frame records that the frames before it were fsynced, which may be the case after a power failure.
     */
    private long firstValidBehind() throws IOException {
        int term = previous == null ? 0 : previous.term();
        long first = LogFrames.NOWHERE;
        for (long segment : segments().tailSet(geometry.segmentOf(position))) {
            long lsn = frames.firstValid(segment, position + Blocks.BLOCK_BYTES, term, passed -> {});
            while (lsn != LogFrames.NOWHERE) {
                first = first == LogFrames.NOWHERE ? lsn : first;
                if (FrameLayout.afterForce(frames.window(), frames.at(lsn))) {
                    return first;
                }
                lsn = frames.firstValid(segment, frames.positionBehind(lsn), term, passed -> {});
            }
        }
        return LogFrames.NOWHERE;
    }

    private TreeSet<Long> segments() throws IOException {
        return FileNames.LOG.numbers(files.storage.list());
    }

    @Override
    public void close() throws IOException {
        files.close();
    }
}
