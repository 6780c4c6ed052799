package io.caravan.wal;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.FsyncedLsnLayout;
import io.caravan.format.Region;
import io.caravan.io.MappedFile;
import io.caravan.io.PendingReadError;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * The segment files of the log. They are preallocated ahead of need, and recycled when no checkpoint needs them any
 * longer.
 *
 * <p>The files have consecutive numbers. Only one thread at a time (the provisioner's) calls the methods that add or
 * remove files. Any thread may look up files.
 *
 * <p>A recycled file first gets its new name and then its new header. A crash in between leaves a file with the header
 * of an older segment, which recovery correctly treats as unused.
 */
public final class LogSegments implements AutoCloseable {
    /** The number of entries for which {@link #load} is useful. A processor core waits for about ten cache lines. */
    public static final int LOADED_TOGETHER = 16;
    /** The bytes of an entry that {@link #load} loads. The processor loads later bytes in time without help. */
    private static final int LOADED_BYTES = 512;

    private final Storage storage;
    private final LogGeometry geometry;
    private final long storeId;
    private final ConcurrentSkipListMap<Long, LogSegment> files = new ConcurrentSkipListMap<>();
    private @Nullable FsyncedLsn forced;
    /** The segment that was read last, which is usually also the next one to be read. It may have been closed. */
    private volatile @Nullable LogSegment lastRead;

    public LogSegments(Storage storage, LogGeometry geometry, long storeId) {
        this.storage = storage;
        this.geometry = geometry;
        this.storeId = storeId;
    }

    public LogGeometry geometry() {
        return geometry;
    }

    /** Opens an existing segment file without checking it. */
    public void open(long segment) throws IOException {
        StoreFile file = storage.open(FileNames.LOG.of(segment));
        try {
            files.put(segment, new LogSegment(segment, file));
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    public void checkSize(long segment) throws IOException {
        StoreFile file = file(segment);
        if (file.size() != geometry.segmentBytes()) {
            throw new CorruptStoreException(
                    file.path(),
                    file.size(),
                    "should be " + geometry.segmentBytes() + " bytes long; restore the directory from a backup");
        }
    }

    public void checkHeader(long segment) throws IOException {
        StoreFile file = file(segment);
        ByteBuffer block = newBlock();
        file.read(block, 0);
        FileHeader.check(block.flip(), FileNames.LOG.letters(), fields(segment), file.path());
    }

    /** Whether the file of this segment is open. */
    public boolean ready(long segment) {
        return files.containsKey(segment);
    }

    public StoreFile file(long segment) {
        LogSegment found = files.get(segment);
        if (found == null) {
            throw new IllegalStateException("log segment " + segment + " is not open");
        }
        return found.file;
    }

    /** Returns a reader of the log's frames, which rejects a segment of the wrong size; see {@link LogFrames}. */
    LogFrames frames(int readAheadBytes) {
        return new LogFrames(geometry, storeId, this::checkedFile, readAheadBytes);
    }

    private @Nullable StoreFile checkedFile(long segment) throws IOException {
        if (!ready(segment)) {
            return null;
        }
        checkSize(segment);
        return file(segment);
    }

    /** Copies log bytes, starting at a position, to a buffer. Returns false if the log no longer has them. */
    public boolean copy(long lsn, ByteBuffer target, int bytes) {
        long number = geometry.segmentOf(lsn);
        LogSegment last = lastRead;
        if (last != null && last.number == number && last.copy(geometry.offsetOf(lsn), target, bytes)) {
            return true;
        }
        LogSegment found = files.get(number);
        if (found == null || !found.copy(geometry.offsetOf(lsn), target, bytes)) {
            return false;
        }
        lastRead = found;
        return true;
    }

    /**
     * Loads entries into the processor's caches together. Copying them one after the other without this call would wait
     * for the memory at each entry. Skips entries that are not in the log, or cannot be read.
     *
     * @param regions the regions of the entries, of which {@code count} from the index {@code from} on are loaded
     * @param near a position near all entries of the log; see {@link Region#entryLsn}
     */
    public void load(long[] regions, int from, int count, long near) {
        boolean loaded = false;
        try {
            int at = from;
            while (at < from + count) {
                int start = at;
                long number = segmentOf(regions[start], near);
                while (at < from + count && segmentOf(regions[at], near) == number) {
                    at++;
                }
                LogSegment segment = files.get(number);
                // A single entry is loaded by its copy just as fast.
                if (segment != null && at > start + 1) {
                    segment.load(geometry, regions, start, at, near);
                    loaded = true;
                }
            }
            if (loaded) {
                PendingReadError.raise();
            }
        } catch (InternalError unreadable) {
            // Copying the entry fails, too, and reports it.
        }
    }

    /** Returns the number of the segment that contains a region, or -1 if the region is in the heap. */
    private long segmentOf(long region, long near) {
        return Region.isInLog(region) ? geometry.segmentOf(Region.entryLsn(region, near)) : -1;
    }

    /**
     * Returns a read-only copy of the checked value of an entry, or null if the log no longer has the entry.
     *
     * @param near a position near all entries of the log; see {@link Region#entryLsn}
     * @throws CorruptStoreException if the bytes are not those of this entry
     */
    public @Nullable ByteBuffer read(long region, long near, long id, long creationLsn, long sequence) {
        long lsn = Region.entryLsn(region, near);
        int bytes = Region.entryBytes(region);
        if (lsn < 0 || bytes > geometry.remaining(lsn)) {
            throw corrupt(lsn, id, sequence, "the index has the entry here, where none can be");
        }
        ByteBuffer entry = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        try {
            if (!copy(lsn, entry, bytes)) {
                return null;
            }
            if (!EntryLayout.valid(entry, 0, Region.length(region), id, creationLsn, sequence)) {
                PendingReadError.raise();
                throw corrupt(lsn, id, sequence, "the entry's bytes are not those that were written");
            }
        } catch (InternalError unreadable) {
            // The JVM throws this if the disk cannot read a mapped page.
            throw corrupt(lsn, id, sequence, "cannot be read: " + unreadable);
        }
        return entry.slice(EntryLayout.VALUE, Region.length(region)).asReadOnlyBuffer();
    }

    /** Returns the exception for a damaged entry. */
    public CorruptStoreException corrupt(long lsn, long id, long sequence, String problem) {
        long position = Math.max(0, lsn);
        return new CorruptStoreException(
                describe(geometry.segmentOf(position)), geometry.offsetOf(position), id, sequence, problem);
    }

    /** Returns the path of a segment's file, whether it exists or not. */
    public String describe(long segment) {
        return storage.describe(FileNames.LOG.of(segment));
    }

    public long first() {
        return files.firstKey();
    }

    public long last() {
        return files.lastKey();
    }

    /** Returns the numbers of the open segments starting with this one, in ascending order, possibly with gaps. */
    public List<Long> from(long segment) {
        return List.copyOf(files.tailMap(segment).keySet());
    }

    /** Creates the next segment, at first segment 0. Its space is filled with zeros, and its name is durable. */
    public void prepareNext() throws IOException {
        long segment = files.isEmpty() ? 0 : last() + 1;
        String temporary = FileNames.LOG.temporary(segment);
        try (StoreFile file = storage.create(temporary, geometry.segmentBytes())) {
            writeHeader(file, segment);
        }
        storage.rename(temporary, FileNames.LOG.of(segment));
        storage.forceDirectory();
        open(segment);
    }

    /**
     * Makes the oldest segment, which no checkpoint needs, the last one. If a failed call of {@link #deleteFirst} has
     * deleted its file, completes that deletion instead. May be called again after a failure.
     */
    public void recycleFirst() throws IOException {
        long segment = last() + 1;
        long oldest = closeFirst();
        if (!storage.list().contains(FileNames.LOG.of(oldest))) {
            deleteFirst();
            return;
        }
        storage.rename(FileNames.LOG.of(oldest), FileNames.LOG.of(segment));
        files.remove(oldest);
        try (StoreFile file = storage.open(FileNames.LOG.of(segment))) {
            writeHeader(file, segment);
        }
        storage.forceDirectory();
        open(segment);
    }

    /** Deletes the oldest segment, which no checkpoint needs. May be called again after a failure. */
    public void deleteFirst() throws IOException {
        long oldest = closeFirst();
        delete(oldest);
        files.remove(oldest);
    }

    private long closeFirst() throws IOException {
        Map.Entry<Long, LogSegment> oldest = files.firstEntry();
        oldest.getValue().close();
        return oldest.getKey();
    }

    /** Durably deletes the file of a segment, unless an earlier call has deleted it. */
    private void delete(long segment) throws IOException {
        String name = FileNames.LOG.of(segment);
        if (storage.list().contains(name)) {
            storage.delete(name);
        }
        storage.forceDirectory();
    }

    /** Rewrites and fsyncs the header of a segment that has no frames. */
    public void rewriteHeader(long segment) throws IOException {
        writeHeader(file(segment), segment);
    }

    /**
     * Makes the log durable up to its end, exactly as it was read. A killed process may have left frames in the page
     * cache. If an fsync in that process failed, a second fsync does not report the failure (Rebello et al., "Can
     * Applications Recover from fsync Failures?", ATC 2020). Frames that are not recorded as fsynced are therefore
     * rewritten byte for byte. None of them was acknowledged as fsynced. Also erases the header of a frame that was cut
     * off at the end of the log.
     *
     * @param start the first position of the log that is needed
     * @throws IOException if the disk fails, or the frames have changed since they were read
     */
    public void settle(long start, LogScanner.End end) throws IOException {
        FsyncedLsn opened = new FsyncedLsn(storage, storeId);
        forced = opened;
        LogFrames frames = frames(LogFrames.NO_READ_AHEAD);
        writeAgain(frames, Math.max(start, opened.get()), end);
        eraseHeader(frames, end.position());
        eraseHeader(frames, frames.firstBehind(end.position()));
        long last = geometry.segmentOf(end.position());
        for (long segment :
                files.subMap(geometry.segmentOf(start), true, last, true).keySet()) {
            file(segment).force();
        }
        opened.put(end.position());
    }

    /**
     * Rewrites the frames from a position on with their checked bytes, because another read may no longer return these
     * bytes. Starts with the last frame and follows the link from each frame to the previous frame. Frames that were
     * cut off earlier may also be valid, but no frame of the log refers to them.
     */
    private void writeAgain(LogFrames frames, long from, LogScanner.End end) throws IOException {
        long lsn = end.last().lsn();
        int crc = end.last().crc();
        while (lsn >= from) {
            if (!frames.validAt(lsn) || frames.linkOf(lsn).crc() != crc) {
                throw new IOException(describe(geometry.segmentOf(lsn)) + " has changed at LSN " + lsn
                        + " while it was read, after a failed fsync; open the store again");
            }
            file(geometry.segmentOf(lsn)).write(frames.frameAt(lsn), geometry.offsetOf(lsn));
            crc = frames.window().getInt(frames.at(lsn) + FrameLayout.PREVIOUS_CRC);
            lsn = frames.window().getLong(frames.at(lsn) + FrameLayout.PREVIOUS_LSN);
        }
    }

    /**
     * Erases the header of a frame that was cut off, because the next frame may be written at its position. If some
     * sectors of both frames are equal, a torn write of the next frame could otherwise complete the old frame.
     */
    private void eraseHeader(LogFrames frames, long lsn) throws IOException {
        if (frames.begunAt(lsn)) {
            StoreFile file = file(geometry.segmentOf(lsn));
            file.write(newBlock(), geometry.offsetOf(lsn));
            file.force();
        }
    }

    /** Records that the log is fsynced up to this position, for use by the next open if this process is killed. */
    void forcedUpTo(long lsn) throws IOException {
        if (forced != null) {
            forced.put(lsn);
        }
    }

    /** Returns the link with which the next frame must refer to the frame at this position. */
    public Link link(long lsn) throws IOException {
        return FrameLayout.link(header(lsn), 0);
    }

    /** Returns the LSN of the frame that precedes the frame at this position. */
    public long previousLsn(long lsn) throws IOException {
        return header(lsn).getLong(FrameLayout.PREVIOUS_LSN);
    }

    private ByteBuffer header(long lsn) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(FrameLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file(geometry.segmentOf(lsn)).read(frame, geometry.offsetOf(lsn));
        return frame.flip();
    }

    /** Deletes the last segment, which has no frames. First deletes a file that a failed call has left after it. */
    public void discard(long segment) throws IOException {
        delete(segment + 1);
        Objects.requireNonNull(files.remove(segment)).close();
        delete(segment);
    }

    private void writeHeader(StoreFile file, long segment) throws IOException {
        ByteBuffer block = newBlock();
        FileHeader.put(block, FileNames.LOG.letters(), fields(segment));
        file.write(block, 0);
        file.force();
    }

    private FileHeader.Fields fields(long segment) {
        return new FileHeader.Fields(storeId, segment, geometry.segmentBytes());
    }

    private static ByteBuffer newBlock() {
        return ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
        IOException failed = null;
        for (LogSegment segment : files.values()) {
            try {
                segment.close();
            } catch (IOException also) {
                failed = also;
            }
        }
        files.clear();
        if (forced != null) {
            forced.file.close();
        }
        if (failed != null) {
            throw failed;
        }
    }

    /**
     * An open segment: a file to which the flusher writes through a channel, and a mapping for readers. Readers must
     * not use a channel, because an interrupt would close it.
     *
     * <p>A reader holds one of the locks while it copies an entry. To close the segment, a thread takes all locks
     * permanently. It waits for readers that are copying entries, and later readers find the segment closed.
     */
    private static final class LogSegment {
        /** Number of locks. Readers on different cores would wait for each other's access to a single lock. */
        private static final int LOCKS = 16;

        private final long number;
        private final StoreFile file;
        private final MappedFile mapping;
        private final StampedLock[] readers = new StampedLock[LOCKS];

        LogSegment(long number, StoreFile file) throws IOException {
            this.number = number;
            this.file = file;
            this.mapping = file.map();
            Arrays.setAll(readers, lock -> new StampedLock());
        }

        /** Copies bytes of the segment, starting at an offset, to a buffer. Returns false if the segment is closed. */
        boolean copy(int offset, ByteBuffer target, int bytes) {
            StampedLock lock = lockOfThread();
            long stamp = lock.tryReadLock();
            if (stamp == 0) {
                return false;
            }
            try {
                mapping.copy(offset, target, bytes);
                return true;
            } finally {
                lock.unlockRead(stamp);
            }
        }

        /** Loads entries of the segment if it is open; see {@link LogSegments#load}. */
        void load(LogGeometry geometry, long[] regions, int from, int to, long near) {
            StampedLock lock = lockOfThread();
            long stamp = lock.tryReadLock();
            if (stamp == 0) {
                return;
            }
            try {
                for (int i = from; i < to; i++) {
                    long lsn = Region.entryLsn(regions[i], near);
                    int bytes = Math.min(Region.entryBytes(regions[i]), LOADED_BYTES);
                    mapping.load(geometry.offsetOf(lsn), Math.min(bytes, geometry.remaining(lsn)));
                }
            } finally {
                lock.unlockRead(stamp);
            }
        }

        /** Successive threads get locks that are not next to each other in memory. */
        private StampedLock lockOfThread() {
            return readers[(int) (Thread.currentThread().getId() * 7 % LOCKS)];
        }

        /** Closes the segment. May be called again after a failure. */
        void close() throws IOException {
            if (!readers[0].isWriteLocked()) {
                for (StampedLock lock : readers) {
                    lock.writeLock();
                }
                mapping.unmap();
            }
            file.close();
        }
    }

    /**
     * The file that records the position up to which the log was fsynced when the process ended. The position is
     * written after each fsync and before any write is acknowledged, but the file is never fsynced: the page cache
     * outlives the process. If the page cache is lost, all readable bytes of the log come from the disk. {@link
     * FsyncedLsnLayout} distinguishes the two cases.
     */
    private static final class FsyncedLsn {
        private final UUID boot;
        private final long storeId;
        private final StoreFile file;
        private final ByteBuffer bytes =
                ByteBuffer.allocateDirect(FsyncedLsnLayout.BYTES).order(ByteOrder.LITTLE_ENDIAN);

        FsyncedLsn(Storage storage, long storeId) throws IOException {
            this.boot = storage.bootId();
            this.storeId = storeId;
            this.file = storage.list().contains(FileNames.FORCED_LSN)
                    ? storage.open(FileNames.FORCED_LSN)
                    : storage.create(FileNames.FORCED_LSN, FsyncedLsnLayout.BYTES);
        }

        /** Returns the LSN up to which the log is known to be on disk. */
        long get() throws IOException {
            file.read(bytes.clear(), 0);
            return FsyncedLsnLayout.lsn(bytes.clear(), storeId, boot);
        }

        /** Records that the log is fsynced up to this position. */
        void put(long forcedLsn) throws IOException {
            FsyncedLsnLayout.put(bytes.clear(), storeId, boot, forcedLsn);
            file.write(bytes, 0);
        }
    }
}
