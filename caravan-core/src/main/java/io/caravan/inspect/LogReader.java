package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.io.ReadOnlyStorage;
import io.caravan.io.Storage;
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
 * Reads a log frame by frame while others may write and recycle it, or while parts of it are damaged. It takes no lock,
 * writes nothing, and has one frame in memory.
 *
 * <p>{@link LogFrames} finds the next frame, as it does for {@link io.caravan.wal.LogScanner}. The scanner refuses a log
 * with damage; this reader reports the damage and goes on. Where no frame follows, there is (1) a segment that was
 * recycled, (2) damage, if a valid frame stands anywhere behind, or (3) the log's end, for now. A frame is visited when it has been written, a moment before it is durable.
 *
 * <p>For one thread.
 */
public final class LogReader implements AutoCloseable {
    /** Stands for a segment that is not known. */
    private static final long UNKNOWN = -2;

    private final Storage storage;
    private final SalvageIdentity identity;
    private final LogGeometry geometry;
    private final long from;
    private final LogFrames frames;
    private @Nullable StoreFile file;
    private long fileSegment = UNKNOWN;
    private long toldSegment = UNKNOWN;
    /** Where the next frame is, if it fits there. */
    private long position;
    /** The frame before it, as it was read; null when that is not known. */
    private @Nullable Link previous;
    /** Whether everything that was there has been searched for valid frames. */
    private boolean searched;

    private LogReader(Storage storage, SalvageIdentity identity, long from) throws IOException {
        this.storage = storage;
        this.identity = identity;
        this.geometry = new LogGeometry(identity.logSegmentBytes());
        this.frames = new LogFrames(geometry, identity.storeId(), this::file, LogFrames.NO_READ_AHEAD);
        TreeSet<Long> segments = segments();
        if (segments.isEmpty()) {
            throw new StoreDirectoryException(storage.describe("") + " has no segment of the log");
        }
        long wanted = geometry.segmentOf(from);
        Long there = segments.floor(wanted);
        long otherwise = from > 0 ? wanted : segments.first();
        position = geometry.firstFrame(there == null ? otherwise : there);
        this.from = from;
    }

    /**
     * Begins to read the log of a store, which may be open.
     *
     * @param from LSN of the first record that is wanted, 0 for all that are there
     * @throws StoreDirectoryException when there is no store
     */
    public static LogReader open(Path directory, long from) throws IOException {
        return open(ReadOnlyStorage.of(directory), from);
    }

    static LogReader open(Storage storage, long from) throws IOException {
        return new LogReader(storage, SalvageIdentity.of(storage), from);
    }

    /** Where the next frame is expected: behind everything that was visited. */
    public long position() {
        return position;
    }

    /** Visits the next frame, or tells what is there in its stead. Returns false at the log's end, for now. */
    public boolean next(LogVisitor visitor) throws IOException {
        if (readNext(visitor) || toldOvertaken(visitor)) {
            return true;
        }
        // While the next segment has no frame, nothing can stand behind that was not there when this was searched.
        if (searched && !frames.validAt(frames.firstBehind(position))) {
            return false;
        }
        long behind = firstValidBehind();
        if (behind == LogFrames.NOWHERE) {
            searched = true;
            return false;
        }
        // It may have been written since, and then so has the one that is expected; or both are being recycled.
        if (readNext(visitor) || toldOvertaken(visitor)) {
            return true;
        }
        visitor.damaged(noFrame("though the log goes on with one at LSN " + behind));
        goOnAt(behind);
        return true;
    }

    /** Tells of damage when the log, which has been read to its end, does not reach this position. */
    public void requireReached(long needed, LogVisitor visitor) {
        if (position < needed) {
            visitor.damaged(noFrame("though a checkpoint needs the log up to LSN " + needed));
        }
    }

    private CorruptStoreException noFrame(String though) {
        return new CorruptStoreException(
                describe(geometry.segmentOf(position)),
                geometry.offsetOf(position),
                "LSN " + position + ": no valid frame, " + though);
    }

    /** Whether a frame was begun at the position that is not whole: it is being written, or a crash has cut it off. */
    public boolean torn() throws IOException {
        return frames.begunAt(position) && !frames.validAt(position);
    }

    private boolean readNext(LogVisitor visitor) throws IOException {
        long next = previous == null
                ? frames.validAt(position) ? position : LogFrames.NOWHERE
                : frames.following(position, previous);
        if (next == LogFrames.NOWHERE) {
            return false;
        }
        visit(next, visitor);
        return true;
    }

    private void visit(long lsn, LogVisitor visitor) throws IOException {
        previous = frames.linkOf(lsn);
        position = frames.positionBehind(lsn);
        if (position <= from) {
            return;
        }
        long segment = geometry.segmentOf(lsn);
        tellSegment(segment, visitor);
        try {
            RecordLayout.forEachInFrame(
                    frames.window(),
                    frames.at(lsn),
                    lsn,
                    (at, id, sequence, entryLsn, buffer, entryAt, length) ->
                            visitor.ahead(id, buffer.slice(entryAt + EntryLayout.VALUE, length)));
        } catch (InvalidRecordException invalid) {
            // Told when its turn comes.
        }
        try {
            RecordLayout.forEachInFrame(frames.window(), frames.at(lsn), lsn, new Wanted(visitor));
        } catch (InvalidRecordException invalid) {
            visitor.damaged(invalid.in(describe(segment), geometry.offsetOf(invalid.lsn())));
        }
    }

    /** Passes on the records that are wanted. */
    private final class Wanted implements RecordLayout.Visitor {
        private final LogVisitor visitor;

        Wanted(LogVisitor visitor) {
            this.visitor = visitor;
        }

        @Override
        public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int at, int length) {
            if (lsn >= from) {
                visitor.append(lsn, id, sequence, entryLsn, buffer.slice(at + EntryLayout.VALUE, length));
            }
        }

        @Override
        public void trim(long lsn, long id, long firstSequence) {
            if (lsn >= from) {
                visitor.trim(lsn, id, firstSequence);
            }
        }

        @Override
        public void delete(long lsn, long id) {
            if (lsn >= from) {
                visitor.delete(lsn, id);
            }
        }
    }

    private void tellSegment(long segment, LogVisitor visitor) throws IOException {
        if (segment == toldSegment) {
            return;
        }
        toldSegment = segment;
        visitor.segment(segment, describe(segment));
        ByteBuffer header = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        StoreFile source = file(segment);
        if (source == null) {
            return;
        }
        source.read(header, 0);
        try {
            FileHeader.check(
                    header.flip(),
                    FileHeader.Kind.LOG_SEGMENT,
                    new FileHeader.Fields(identity.storeId(), segment, geometry.segmentBytes()),
                    source.path());
        } catch (CaravanException wrong) {
            // One that was recycled since its frame was read has the header of another by right.
            if (segments().contains(segment)) {
                visitor.damaged(
                        wrong instanceof CorruptStoreException damage
                                ? damage
                                : new CorruptStoreException(source.path(), 0, String.valueOf(wrong.getMessage())));
            }
        }
    }

    /** Segments are taken away at the beginning, so one that is missing before all others was recycled. */
    private boolean toldOvertaken(LogVisitor visitor) throws IOException {
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
                    describe(segment), 0, "is missing, though " + FileNames.LOG.of(there) + " is there"));
        }
        goOnAt(next);
        return true;
    }

    private void goOnAt(long lsn) {
        position = lsn;
        previous = null;
        searched = false;
    }

    /** The first valid frame behind; nowhere if none behind says that the frames before it were forced, as after a power cut. */
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

    private @Nullable StoreFile file(long segment) throws IOException {
        if (segment != fileSegment) {
            close();
            try {
                file = storage.open(FileNames.LOG.of(segment));
                fileSegment = segment;
            } catch (NoSuchFileException gone) {
                return null;
            }
        }
        return file;
    }

    private TreeSet<Long> segments() throws IOException {
        TreeSet<Long> numbers = new TreeSet<>();
        for (String name : storage.list()) {
            FileNames.LOG.number(name).ifPresent(numbers::add);
        }
        return numbers;
    }

    private String describe(long segment) {
        return storage.describe(FileNames.LOG.of(segment));
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
            fileSegment = UNKNOWN;
        }
    }
}
