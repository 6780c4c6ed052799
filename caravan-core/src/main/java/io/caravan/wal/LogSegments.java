package io.caravan.wal;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The log's segment files: preallocated ahead of need, recycled when no checkpoint needs them any more.
 *
 * <p>The files have consecutive numbers. What adds or removes some is called by one thread at a time (the provisioner);
 * lookups by any.
 *
 * <p>A recycled file first gets its new name and then its new header, so a crash in between leaves a file whose header
 * names an older segment: recovery takes it for unused, which it is.
 */
public final class LogSegments implements AutoCloseable {
    private final Storage storage;
    private final LogGeometry geometry;
    private final long storeId;
    private final ConcurrentSkipListMap<Long, LogSegment> files = new ConcurrentSkipListMap<>();
    /** Number of a file behind the last segment that a failed call may have left, or -1. */
    private long leftover = -1;

    public LogSegments(Storage storage, LogGeometry geometry, long storeId) {
        this.storage = storage;
        this.geometry = geometry;
        this.storeId = storeId;
    }

    public LogGeometry geometry() {
        return geometry;
    }

    /** Opens an existing segment file without looking into it. */
    public void open(long segment) throws IOException {
        StoreFile file = storage.open(FileNames.LOG.of(segment));
        try {
            files.put(segment, new LogSegment(file));
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    /** Checks an open segment's size. */
    public void checkSize(long segment) throws IOException {
        StoreFile file = file(segment);
        if (file.size() != geometry.segmentBytes()) {
            throw new CorruptStoreException(
                    file.path(),
                    file.size(),
                    "should be " + geometry.segmentBytes() + " bytes long; restore the" + " directory from a backup");
        }
    }

    /** Checks an open segment's header. */
    public void checkHeader(long segment) throws IOException {
        StoreFile file = file(segment);
        ByteBuffer block = newBlock();
        file.read(block, 0);
        FileHeader.check(block.flip(), FileHeader.Kind.LOG_SEGMENT, header(segment), file.path());
    }

    /** Whether the segment's file is there. */
    public boolean ready(long segment) {
        return files.containsKey(segment);
    }

    /** The file of a segment that is there. */
    public StoreFile file(long segment) {
        LogSegment found = files.get(segment);
        if (found == null) {
            throw new IllegalStateException("log segment " + segment + " is not open");
        }
        return found.file();
    }

    /** Adds what the log has from a position on to a buffer; false when it is no longer there. */
    public boolean copy(long lsn, ByteBuffer target, int bytes) {
        LogSegment found = files.get(geometry.segmentOf(lsn));
        return found != null && found.copy(geometry.offsetOf(lsn), target, bytes);
    }

    /** The path of a segment's file, whether it is there or not. */
    public String describe(long segment) {
        return storage.describe(FileNames.LOG.of(segment));
    }

    public boolean isEmpty() {
        return files.isEmpty();
    }

    public long first() {
        return files.firstKey();
    }

    public long last() {
        return files.lastKey();
    }

    /** Numbers of the segments that are there from one on, ascending; there may be gaps. */
    public List<Long> from(long segment) {
        return List.copyOf(files.tailMap(segment).keySet());
    }

    /** Makes the segment behind the last, or segment 0: really allocated, zero-filled, its name durable. */
    public void prepareNext() throws IOException {
        long segment = files.isEmpty() ? 0 : last() + 1;
        String temporary = FileNames.LOG.temporary(segment);
        StoreFile file = storage.create(temporary, geometry.segmentBytes());
        try {
            writeHeader(file, segment);
        } finally {
            file.close();
        }
        leftover = segment;
        storage.rename(temporary, FileNames.LOG.of(segment));
        storage.forceDirectory();
        open(segment);
        leftover = -1;
    }

    /** Renames the oldest segment, which nothing needs, to be the one behind the last. May be called again when it has failed. */
    public void recycleFirst() throws IOException {
        long segment = last() + 1;
        long oldest = closeFirst();
        leftover = segment;
        storage.rename(FileNames.LOG.of(oldest), FileNames.LOG.of(segment));
        files.remove(oldest);
        try (StoreFile file = storage.open(FileNames.LOG.of(segment))) {
            writeHeader(file, segment);
        }
        storage.forceDirectory();
        open(segment);
        leftover = -1;
    }

    /** Deletes the oldest segment, which nothing needs. May be called again when it has failed. */
    public void deleteFirst() throws IOException {
        long oldest = closeFirst();
        deleteIfThere(oldest);
        files.remove(oldest);
        storage.forceDirectory();
    }

    private long closeFirst() throws IOException {
        Map.Entry<Long, LogSegment> oldest = files.firstEntry();
        oldest.getValue().close();
        return oldest.getKey();
    }

    private void deleteIfThere(long segment) throws IOException {
        String name = FileNames.LOG.of(segment);
        if (storage.list().contains(name)) {
            storage.delete(name);
        }
    }

    /** Writes the header of a segment without frames once more, and forces it. */
    public void finishAnew(long segment) throws IOException {
        writeHeader(file(segment), segment);
    }

    /** Invalidates the frame that starts here, whether it is valid or not; forces nothing. */
    public void withdraw(long lsn) throws IOException {
        file(geometry.segmentOf(lsn)).write(ByteBuffer.allocate(FrameLayout.HEADER_BYTES), geometry.offsetOf(lsn));
    }

    /** Withdraws a frame once more that looks withdrawn, or as if it had never been written. */
    public void withdrawAgain(long lsn) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(FrameLayout.HEADER_BYTES);
        file(geometry.segmentOf(lsn)).read(header, geometry.offsetOf(lsn));
        if (header.flip().equals(ByteBuffer.allocate(FrameLayout.HEADER_BYTES))) {
            withdraw(lsn);
        }
    }

    /** What the frame at this position says of the one before it. */
    public long previousLsn(long lsn) throws IOException {
        ByteBuffer previous = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file(geometry.segmentOf(lsn)).read(previous, geometry.offsetOf(lsn) + FrameLayout.PREVIOUS_LSN);
        return previous.getLong(0);
    }

    /** Deletes the last segment, in which nothing is. First removes a file that a failed call has left behind it. */
    public void discard(long segment) throws IOException {
        if (leftover > segment) {
            deleteIfThere(leftover);
            storage.forceDirectory();
        }
        leftover = segment;
        Objects.requireNonNull(files.remove(segment)).close();
        deleteIfThere(segment);
        storage.forceDirectory();
        leftover = -1;
    }

    private void writeHeader(StoreFile file, long segment) throws IOException {
        ByteBuffer block = newBlock();
        FileHeader.put(block, FileHeader.Kind.LOG_SEGMENT, header(segment));
        file.write(block, 0);
        file.force();
    }

    private FileHeader.Fields header(long segment) {
        return new FileHeader.Fields(storeId, segment, geometry.segmentBytes());
    }

    private static ByteBuffer newBlock() {
        return ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
        IOException first = null;
        for (LogSegment segment : files.values()) {
            try {
                segment.close();
            } catch (IOException failed) {
                if (first == null) {
                    first = failed;
                } else {
                    first.addSuppressed(failed);
                }
            }
        }
        files.clear();
        if (first != null) {
            throw first;
        }
    }
}
