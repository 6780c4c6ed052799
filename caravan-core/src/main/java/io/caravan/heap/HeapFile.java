package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The values that have survived, in segment files that are written through a channel and read through a mapping.
 *
 * <p>One thread writes, forces, and adds and drops segments: the checkpointer or, until that runs, whoever opens the
 * store. Any number of threads read. The array of segments is replaced, never changed, so that readers take no lock.
 *
 * <p>A segment has its whole size from the beginning, and is sparse. {@link #fill} allocates disk space for a part of it
 * before anything is placed there, so that a place in the heap is room on the disk. Memory is unmapped as soon as nobody uses it. A segment is dropped only when nothing in it is
 * live or pinned, so no reader has a value of it. The file as a whole is retained by each read, so that closing it unmaps
 * nothing under a reader.
 */
public final class HeapFile implements AutoCloseable {
    private final Storage storage;
    private final HeapGeometry geometry;
    private final long storeId;
    private final AtomicInteger references = new AtomicInteger(1);
    private volatile Segment[] segments = new Segment[0];

    /** A heap file without segments. */
    public HeapFile(Storage storage, HeapGeometry geometry, long storeId) {
        this.storage = storage;
        this.geometry = geometry;
        this.storeId = storeId;
    }

    /** A mapped segment. */
    private static final class Segment {
        final String path;
        final MappedFile mapping;
        /** Open while it has bytes that are not forced. */
        @Nullable
        StoreFile unforced;

        Segment(StoreFile file) throws IOException {
            path = file.path();
            mapping = file.map();
        }
    }

    public HeapGeometry geometry() {
        return geometry;
    }

    public int segmentCount() {
        return segments.length;
    }

    /** Sizes of the segments, in bytes; they take up to so much of the disk. */
    public long fileBytes() {
        return (long) segments.length * geometry.segmentBytes();
    }

    /** Opens the next segment's existing file, or says what is wrong with it. */
    public void openNext() throws IOException {
        int number = segments.length;
        try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
            check(file, number);
            Segment[] more = Arrays.copyOf(segments, number + 1);
            more[number] = new Segment(file);
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
        FileHeader.check(block.flip(), FileHeader.Kind.HEAP_SEGMENT, header(number), file.path());
    }

    /** The error for a segment that holds live data and has no file. */
    public StoreDirectoryException missing(int number) {
        return new StoreDirectoryException(storage.describe(FileNames.HEAP.of(number))
                + " is missing: it holds part of the store's values; put the file back, or restore the directory from a"
                + " backup");
    }

    /** Makes the next segment. Its size, header and name are durable when this returns. */
    public void createNext() throws IOException {
        int number = segments.length;
        String temporary = FileNames.HEAP.temporary(number);
        try (StoreFile file = storage.create(temporary, 0)) {
            ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            FileHeader.put(block, FileHeader.Kind.HEAP_SEGMENT, header(number));
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

    /** A file that is half made takes up space that others may be waiting for. */
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
     * Drops the segments from a number on: deletes their files and unmaps them. Nothing in them may be live or pinned.
     * A file that cannot be deleted does not keep the others.
     */
    public void dropFrom(int count) throws IOException {
        Segment[] before = segments;
        if (before.length <= count) {
            return;
        }
        segments = Arrays.copyOf(before, count);
        IOException failed = null;
        for (int number = before.length - 1; number >= count; number--) {
            before[number].mapping.unmap();
            try {
                storage.delete(FileNames.HEAP.of(number));
            } catch (IOException stays) {
                if (failed != null) {
                    stays.addSuppressed(failed);
                }
                failed = stays;
            }
        }
        storage.forceDirectory();
        if (failed != null) {
            throw failed;
        }
    }

    /** Keeps everything mapped until {@link #release}, after a close too. The file must be open or retained. */
    public void retain() {
        references.incrementAndGet();
    }

    /** Ends what {@link #retain} began. */
    public void release() {
        if (references.decrementAndGet() == 0) {
            for (Segment segment : segments) {
                segment.mapping.unmap();
            }
        }
    }

    /** Unmaps everything as soon as nobody retains it. To be called once, when nobody writes or forces any more. */
    @Override
    public void close() {
        release();
    }

    /**
     * Fills a part of a segment with zeros, so that disk space is allocated for it; not durable before {@link #force}.
     * What is written over them before then costs the disk no second write.
     *
     * @throws IOException when the disk has no space; what is there stays as it was
     */
    public void fill(long address, int bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(bytes, StoreFile.CACHED_TOGETHER_BYTES));
        for (int done = 0; done < bytes; done += zeros.limit()) {
            write(address + done, zeros.clear().limit(Math.min(zeros.capacity(), bytes - done)));
        }
    }

    /** Writes bytes to an address, within one segment; not durable before {@link #force}. */
    public void write(long address, ByteBuffer source) throws IOException {
        int number = geometry.segmentOf(address);
        Segment segment = segments[number];
        StoreFile file = segment.unforced;
        if (file == null) {
            file = storage.open(FileNames.HEAP.of(number));
            segment.unforced = file;
        }
        file.write(source, geometry.offsetOf(address));
    }

    /** Returns when everything written is durable. */
    public void force() throws IOException {
        for (Segment segment : segments) {
            try (StoreFile file = segment.unforced) {
                if (file != null) {
                    file.force();
                }
            } finally {
                segment.unforced = null;
            }
        }
    }

    /**
     * Returns the value of an entry, checked; read-only, and valid as long as the region is pinned and the file retained.
     *
     * @throws CorruptStoreException when the bytes are not those of this entry
     */
    public ByteBuffer read(long region, long id, long birth, long sequence) {
        long address = Region.address(region);
        int length = Region.length(region);
        int number = geometry.segmentOf(address);
        int offset = geometry.offsetOf(address);
        Segment[] current = segments;
        if (number >= current.length || !geometry.contains(address, Region.entryBytes(region))) {
            throw new CorruptStoreException(
                    path(address), offset, id, sequence, "the index has the entry here, where none can be");
        }
        Segment segment = current[number];
        if (!valid(segment, offset, length, id, birth, sequence)) {
            throw new CorruptStoreException(
                    segment.path, offset, id, sequence, "the entry's bytes are not those that were written");
        }
        return segment.mapping.buffer().slice(offset + EntryLayout.VALUE, length);
    }

    private static boolean valid(Segment segment, int offset, int length, long id, long birth, long sequence) {
        try {
            return EntryLayout.valid(segment.mapping.buffer(), offset, length, id, birth, sequence);
        } catch (InternalError unreadable) {
            // This is how the JVM reports that the disk could not read a mapped page.
            throw new CorruptStoreException(segment.path, offset, id, sequence, "cannot be read: " + unreadable);
        }
    }

    /** The path of the segment that an address lies in, whether the file exists or not. */
    public String path(long address) {
        return storage.describe(FileNames.HEAP.of(geometry.segmentOf(address)));
    }
}
