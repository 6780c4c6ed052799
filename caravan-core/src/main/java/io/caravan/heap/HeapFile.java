package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.io.MappedFile;
import io.caravan.io.PendingReadError;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stores the values that have moved to the heap, in segment files that are written through a channel and read through a
 * mapping.
 *
 * <p>One thread writes, fsyncs, and adds and drops segments: the thread that opens the store, and later the
 * checkpointer's thread. Any number of threads read. The array of segments is replaced, never changed, so readers take
 * no lock.
 *
 * <p>A segment is a sparse file that has its full size from the beginning. {@link #fill} allocates disk space for a
 * part of it before entries are placed there, so every place in the heap has disk space. A segment is dropped only if
 * it has no live or pinned entries, so no reader uses a value in it. Each read retains the heap file, so a close never
 * unmaps memory that is being read.
 */
public final class HeapFile implements AutoCloseable {
    private final Storage storage;
    private final HeapGeometry geometry;
    private final long storeId;
    private final AtomicInteger references = new AtomicInteger(1);
    private volatile MappedFile[] segments = new MappedFile[0];
    /** The files of the segments that have bytes that are not fsynced. */
    private final TreeMap<Integer, StoreFile> unforced = new TreeMap<>();

    public HeapFile(Storage storage, HeapGeometry geometry, long storeId) {
        this.storage = storage;
        this.geometry = geometry;
        this.storeId = storeId;
    }

    public HeapGeometry geometry() {
        return geometry;
    }

    public int segmentCount() {
        return segments.length;
    }

    /** Returns the total size of the segments in bytes, which is an upper bound on their disk space. */
    public long fileBytes() {
        return (long) segments.length * geometry.segmentBytes();
    }

    /** Opens the next segment's existing file, or throws an exception that states why the file is unusable. */
    public void openNext() throws IOException {
        int number = segments.length;
        try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
            check(file, number);
            MappedFile[] more = Arrays.copyOf(segments, number + 1);
            more[number] = file.map();
            segments = more;
        }
    }

    /** Checks the size and header of a segment's file. */
    public void check(int number) throws IOException {
        try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
            check(file, number);
        }
    }

    private void check(StoreFile file, int number) throws IOException {
        if (file.size() != geometry.segmentBytes()) {
            throw new CorruptStoreException(
                    file.path(),
                    file.size(),
                    "should be " + geometry.segmentBytes() + " bytes long; restore the directory from a backup");
        }
        ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file.read(block, 0);
        FileHeader.check(block.flip(), FileNames.HEAP.letters(), header(number), file.path());
    }

    /** Creates the next segment. Its size, header and name are durable when this returns. */
    public void createNext() throws IOException {
        int number = segments.length;
        String temporary = FileNames.HEAP.temporary(number);
        try (StoreFile file = storage.create(temporary, 0)) {
            ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            FileHeader.put(block, FileNames.HEAP.letters(), header(number));
            file.write(block, 0);
            file.write(ByteBuffer.allocate(1), geometry.segmentBytes() - 1L);
            file.force();
        } catch (IOException failed) {
            deleteAfter(failed, temporary);
            throw failed;
        }
        storage.rename(temporary, FileNames.HEAP.of(number));
        storage.forceDirectory();
        openNext();
    }

    /** Deletes an incomplete file, so that its space is free for other files. */
    private void deleteAfter(IOException failed, String name) {
        try {
            storage.delete(name);
        } catch (IOException also) {
            failed.addSuppressed(also);
        }
    }

    private FileHeader.Fields header(int number) {
        return new FileHeader.Fields(storeId, number, geometry.segmentBytes());
    }

    /**
     * Deletes the files of the segments from this number on, and unmaps these segments. They must have no live or
     * pinned entries. If a file cannot be deleted, the other files are still deleted.
     */
    public void dropFrom(int count) throws IOException {
        MappedFile[] before = segments;
        if (before.length <= count) {
            return;
        }
        segments = Arrays.copyOf(before, count);
        closeUnforcedFrom(count);
        IOException failed = null;
        for (int number = before.length - 1; number >= count; number--) {
            before[number].unmap();
            try {
                storage.delete(FileNames.HEAP.of(number));
            } catch (IOException stays) {
                failed = stays;
            }
        }
        storage.forceDirectory();
        if (failed != null) {
            throw failed;
        }
    }

    /** Keeps all segments mapped until {@link #release}, even after a close. The file must be open or retained. */
    public void retain() {
        references.incrementAndGet();
    }

    /** Undoes one call to {@link #retain}. */
    public void release() {
        if (references.decrementAndGet() == 0) {
            for (MappedFile segment : segments) {
                segment.unmap();
            }
        }
    }

    /** Unmaps all segments once no read retains them. Called once, after the last write and fsync. */
    @Override
    public void close() {
        closeUnforcedFrom(0);
        release();
    }

    /** Closes the files with bytes that are not fsynced, from this segment on. No region refers to such bytes. */
    private void closeUnforcedFrom(int number) {
        SortedMap<Integer, StoreFile> files = unforced.tailMap(number);
        for (StoreFile file : files.values()) {
            try {
                file.close();
            } catch (IOException ignored) {
                // A failed close loses nothing, because the bytes are not needed.
            }
        }
        files.clear();
    }

    /**
     * Fills a part of a segment with zeros, so that disk space is allocated for it. Not durable before {@link #force}.
     * If other bytes replace the zeros before that call, the disk is written only once.
     *
     * @throws IOException if the disk has no space; the existing contents are unchanged
     */
    public void fill(long address, int bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(bytes, StoreFile.CACHED_TOGETHER_BYTES));
        for (int done = 0; done < bytes; done += zeros.limit()) {
            write(address + done, zeros.clear().limit(Math.min(zeros.capacity(), bytes - done)));
        }
    }

    /** Writes bytes to a heap address, within one segment. Not durable before {@link #force}. */
    public void write(long address, ByteBuffer source) throws IOException {
        int number = geometry.segmentOf(address);
        StoreFile file = unforced.get(number);
        if (file == null) {
            file = storage.open(FileNames.HEAP.of(number));
            unforced.put(number, file);
        }
        file.write(source, geometry.offsetOf(address));
    }

    /** Makes all written bytes durable. */
    public void force() throws IOException {
        while (!unforced.isEmpty()) {
            try (StoreFile file = unforced.pollFirstEntry().getValue()) {
                file.force();
            }
        }
    }

    /**
     * Returns the checked value of an entry. It is read-only, and valid while the region is pinned and the file is
     * retained.
     *
     * @throws CorruptStoreException if the bytes are not those of this entry
     */
    public ByteBuffer read(long region, long id, long creationLsn, long sequence) {
        long address = Region.address(region);
        int length = Region.length(region);
        int number = geometry.segmentOf(address);
        int offset = geometry.offsetOf(address);
        MappedFile[] current = segments;
        if (number >= current.length || !geometry.contains(address, Region.entryBytes(region))) {
            throw corrupt(address, id, sequence, "the index has the entry here, where none can be");
        }
        ByteBuffer bytes = current[number].buffer();
        try {
            if (!EntryLayout.valid(bytes, offset, length, id, creationLsn, sequence)) {
                PendingReadError.raise();
                throw corrupt(address, id, sequence, "the entry's bytes are not those that were written");
            }
        } catch (InternalError unreadable) {
            // The JVM throws this if the disk cannot read a mapped page.
            throw corrupt(address, id, sequence, "cannot be read: " + unreadable);
        }
        return bytes.slice(offset + EntryLayout.VALUE, length);
    }

    private CorruptStoreException corrupt(long address, long id, long sequence, String problem) {
        return new CorruptStoreException(path(address), geometry.offsetOf(address), id, sequence, problem);
    }

    /** Returns the path of the segment that contains an address, whether the file exists or not. */
    public String path(long address) {
        return storage.describe(FileNames.HEAP.of(geometry.segmentOf(address)));
    }
}
