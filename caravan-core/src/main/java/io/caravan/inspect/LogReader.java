package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.io.ReadOnlyStorage;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
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
 * <p>The rule is that of {@link io.caravan.wal.LogScanner}: a frame is the next when it is valid and names the one
 * before it, at the position itself or first in the next segment. That one refuses what does not fit; this one tells
 * of it, and goes on. Where no frame follows, this is (1) a segment that was recycled, (2) a frame that was withdrawn,
 * (3) damage, if a valid frame stands anywhere behind, or (4) the log's end, for now. A frame is visited when it has
 * been written, a moment before it is durable.
 *
 * <p>For one thread.
 */
public final class LogReader implements AutoCloseable {
    /** Stands for the frame before one that is not known, and for a position where there is none. */
    private static final long UNKNOWN = -2;

    private static final int FIRST_BYTES = 64 << 10;

    private final Storage storage;
    private final SalvageIdentity identity;
    private final LogGeometry geometry;
    private final long from;
    private ByteBuffer frame = allocate(FIRST_BYTES);
    private @Nullable StoreFile file;
    private long fileSegment = UNKNOWN;
    private long toldSegment = UNKNOWN;
    /** Where the next frame is, if it fits there. */
    private long position;
    /** The frame before it, and that one's checksum and frame before, as they were read. */
    private long previous = UNKNOWN;

    private int previousCrc;
    private long beforePrevious = UNKNOWN;
    /** Whether everything that was there has been searched for valid frames. */
    private boolean searched;

    private LogReader(Storage storage, SalvageIdentity identity, long from) throws IOException {
        this.storage = storage;
        this.identity = identity;
        this.geometry = new LogGeometry(identity.logSegmentBytes());
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
        if (readNext(visitor) || toldOvertaken(visitor) || toldWithdrawn(visitor)) {
            return true;
        }
        // While the next segment has no frame, nothing can stand behind that was not there when this was searched.
        if (searched && !validAt(firstBehind(position))) {
            return false;
        }
        long behind = firstValidBehind();
        if (behind == UNKNOWN) {
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
        return headerRead(position) && !validAt(position);
    }

    private boolean readNext(LogVisitor visitor) throws IOException {
        if (validAt(position) && (previous == UNKNOWN || previousInFrame() == previous)) {
            visit(position, visitor);
            return true;
        }
        long inNextSegment = firstBehind(position);
        if (previous != UNKNOWN && validAt(inNextSegment) && previousInFrame() == previous) {
            visit(inNextSegment, visitor);
            return true;
        }
        return false;
    }

    private void visit(long lsn, LogVisitor visitor) throws IOException {
        beforePrevious = previousInFrame();
        previousCrc = frame.getInt(FrameLayout.CRC);
        previous = lsn;
        position = geometry.positionAfter(lsn + FrameLayout.HEADER_BYTES + frame.getInt(FrameLayout.PAYLOAD_BYTES));
        if (position <= from) {
            return;
        }
        long segment = geometry.segmentOf(lsn);
        tellSegment(segment, visitor);
        try {
            RecordLayout.forEachInFrame(frame, 0, lsn, new Ahead(visitor));
        } catch (InvalidRecordException invalid) {
            // Told when its turn comes.
        }
        try {
            RecordLayout.forEachInFrame(frame, 0, lsn, new Wanted(visitor));
        } catch (InvalidRecordException invalid) {
            visitor.damaged(invalid.in(describe(segment), geometry.offsetOf(invalid.lsn())));
        }
    }

    /** Passes on what is appended. */
    private record Ahead(LogVisitor visitor) implements RecordLayout.Visitor {
        @Override
        public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int at, int length) {
            visitor.ahead(id, buffer.slice(at + EntryLayout.VALUE, length));
        }

        @Override
        public void trim(long lsn, long id, long firstSequence) {}

        @Override
        public void delete(long lsn, long id) {}
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
        previous = UNKNOWN;
        beforePrevious = UNKNOWN;
        searched = false;
    }

    /** A frame whose force failed is taken back, and another is written in its place once the store is opened again. */
    private boolean toldWithdrawn(LogVisitor visitor) throws IOException {
        if (beforePrevious == UNKNOWN || headerRead(previous) && frame.getInt(FrameLayout.CRC) == previousCrc) {
            return false;
        }
        // A segment gets its new name before anything else is written to it.
        if (!segments().contains(geometry.segmentOf(previous))) {
            return false;
        }
        visitor.withdrawn(previous);
        position = previous;
        previous = beforePrevious;
        beforePrevious = UNKNOWN;
        return true;
    }

    private long firstValidBehind() throws IOException {
        for (long segment : segments().tailSet(geometry.segmentOf(position))) {
            long first = Math.max(geometry.firstFrame(segment), position + Blocks.BLOCK_BYTES);
            for (long lsn = first; lsn < geometry.startOf(segment + 1); lsn += Blocks.BLOCK_BYTES) {
                if (validAt(lsn)) {
                    return lsn;
                }
            }
        }
        return UNKNOWN;
    }

    private long firstBehind(long lsn) {
        return geometry.firstFrame(geometry.segmentOf(lsn) + 1);
    }

    private long previousInFrame() {
        return frame.getLong(FrameLayout.PREVIOUS_LSN);
    }

    /** Whether a valid frame is at this position; it is then in memory. */
    private boolean validAt(long lsn) throws IOException {
        if (!headerRead(lsn)) {
            return false;
        }
        int payload = frame.getInt(FrameLayout.PAYLOAD_BYTES);
        int bytes = FrameLayout.HEADER_BYTES + payload;
        if (payload < 0 || bytes > geometry.remaining(lsn) || !read(lsn, bytes)) {
            return false;
        }
        return FrameLayout.valid(frame, 0, new FrameLayout.Identity(lsn, identity.storeId(), geometry.segmentOf(lsn)));
    }

    /** Whether something at this position says that it is the frame there; its header is then in memory. */
    private boolean headerRead(long lsn) throws IOException {
        return read(lsn, FrameLayout.HEADER_BYTES)
                && FrameLayout.magicAt(frame, 0)
                && frame.getLong(FrameLayout.LSN) == lsn;
    }

    private boolean read(long lsn, int bytes) throws IOException {
        StoreFile source = file(geometry.segmentOf(lsn));
        int offset = geometry.offsetOf(lsn);
        if (source == null || source.size() - offset < bytes) {
            return false;
        }
        if (frame.capacity() < bytes) {
            frame = allocate(Math.max(bytes, Math.min(2 * frame.capacity(), geometry.segmentBytes())));
        }
        return source.read(frame.clear().limit(bytes), offset) == bytes;
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
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
