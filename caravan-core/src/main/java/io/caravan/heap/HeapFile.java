package io.caravan.heap;

import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.io.Zeros;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * The values, in memory-mapped segment files.
 *
 * <p>Written only from frames that are already durable, by one thread (the flusher, or recovery); read by any number of
 * threads. Segments are added and dropped by the provisioner (and recovery), and published by replacing the array of
 * them, so that readers take no lock.
 *
 * <p>Memory is unmapped as soon as nobody uses it. A segment is dropped only when nothing in it is live or pinned and
 * everything logged for it is applied, so no reader has a value of it and nobody will write to it; only a checkpoint
 * may be forcing it, and holds a reference meanwhile. The file as a whole is retained by each read, so that closing it
 * unmaps nothing under a reader.
 */
public final class HeapFile implements AutoCloseable {
    private final Storage storage;
    private final HeapGeometry geometry;
    private final long storeId;
    private final boolean privately;
    private final AtomicInteger references = new AtomicInteger(1);
    private volatile HeapSegment[] segments = new HeapSegment[0];

    /**
     * A heap file without segments.
     *
     * @param privately whether writes stay in memory, for looking at a store without changing it
     */
    public HeapFile(Storage storage, HeapGeometry geometry, long storeId, boolean privately) {
        this.storage = storage;
        this.geometry = geometry;
        this.storeId = storeId;
        this.privately = privately;
    }

    public HeapGeometry geometry() {
        return geometry;
    }

    public int segmentCount() {
        return segments.length;
    }

    /** Bytes of disk that the segments take. */
    public long diskBytes() {
        return (long) segments.length * geometry.segmentBytes();
    }

    /** Opens the next segment's existing file, or says what is wrong with it. */
    public void openNext() throws IOException {
        int number = segments.length;
        try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
            check(file, number);
            publish(new HeapSegment(file.path(), privately ? file.mapPrivately() : file.map()));
        }
    }

    /**
     * Fills a segment in which nothing is live with zeros, as {@link #createNext} does: those were not forced, so a
     * power loss may have taken their space, and a mapped write must never meet a page without space.
     */
    public void renew(int number) throws IOException {
        if (privately) {
            return;
        }
        try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
            Zeros.write(file, Blocks.BLOCK_BYTES, geometry.segmentBytes());
        }
        segments[number].markAll();
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

    /**
     * Makes the next segment, with space for all of it. Its size, header and name are durable when this returns, its
     * zeros after the next {@link #force}: until then no checkpoint may count on it, as a power loss could take its
     * space.
     */
    public void createNext() throws IOException {
        int number = segments.length;
        String temporary = FileNames.HEAP.temporary(number);
        StoreFile file = storage.create(temporary, 0);
        try (file) {
            fill(file, number);
        } catch (IOException failed) {
            deleteAfter(failed, temporary);
            throw failed;
        }
        storage.rename(temporary, FileNames.HEAP.of(number));
        storage.forceDirectory();
        openNext();
        segments[number].markAll();
    }

    /** A file that is half made takes up space that others may be waiting for. */
    private void deleteAfter(IOException failed, String name) {
        try {
            storage.delete(name);
        } catch (IOException also) {
            failed.addSuppressed(also);
        }
    }

    private void fill(StoreFile file, int number) throws IOException {
        ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        FileHeader.put(block, FileHeader.Kind.HEAP_SEGMENT, header(number));
        file.write(block, 0);
        file.write(ByteBuffer.allocate(1), geometry.segmentBytes() - 1L);
        file.force();
        Zeros.write(file, Blocks.BLOCK_BYTES, geometry.segmentBytes());
    }

    private FileHeader.Fields header(int number) {
        return new FileHeader.Fields(storeId, number, geometry.segmentBytes());
    }

    private void publish(HeapSegment segment) {
        HeapSegment[] more = Arrays.copyOf(segments, segments.length + 1);
        more[segments.length] = segment;
        segments = more;
    }

    /**
     * Drops the segments from a number on: deletes their files and unmaps them. Nothing in them may be live or pinned,
     * and everything logged for them must be applied.
     */
    public void dropFrom(int count) throws IOException {
        HeapSegment[] before = segments;
        segments = Arrays.copyOf(before, count);
        for (int number = before.length - 1; number >= count; number--) {
            before[number].release();
            storage.delete(FileNames.HEAP.of(number));
        }
        storage.forceDirectory();
    }

    /** Keeps everything mapped until {@link #release}, after a close too. The file must be open or retained. */
    public void retain() {
        references.incrementAndGet();
    }

    /** Ends what {@link #retain} began. */
    public void release() {
        if (references.decrementAndGet() == 0) {
            for (HeapSegment segment : segments) {
                segment.release();
            }
        }
    }

    /** Unmaps everything as soon as nobody retains it. To be called once, when nobody writes or forces any more. */
    @Override
    public void close() {
        release();
    }

    /** Copies an entry's bytes, which the log has just as they belong here. */
    public void write(long address, ByteBuffer source, int at, int bytes) {
        HeapSegment segment = segments[geometry.segmentOf(address)];
        segment.write(geometry.offsetOf(address), source, at, bytes);
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
        HeapSegment[] current = segments;
        if (number >= current.length || !geometry.contains(address, Region.entryBytes(region))) {
            throw new CorruptStoreException(
                    path(address), offset, id, sequence, "the index has the entry here, where none can be");
        }
        HeapSegment segment = current[number];
        if (!valid(segment, offset, length, id, birth, sequence)) {
            throw new CorruptStoreException(
                    segment.path, offset, id, sequence, "the entry's bytes are not those that were written");
        }
        return segment.readOnly.slice(offset + EntryLayout.VALUE, length);
    }

    private static boolean valid(HeapSegment segment, int offset, int length, long id, long birth, long sequence) {
        try {
            return EntryLayout.valid(segment.readOnly, offset, length, id, birth, sequence);
        } catch (InternalError unreadable) {
            // This is how the JVM reports that the disk could not read a mapped page.
            throw new CorruptStoreException(segment.path, offset, id, sequence, "cannot be read: " + unreadable);
        }
    }

    /** The path of the segment that an address lies in, whether the file exists or not. */
    public String path(long address) {
        return storage.describe(FileNames.HEAP.of(geometry.segmentOf(address)));
    }

    /**
     * Returns when everything written before the call is durable, with the space of segments made before it. A failure
     * is final for this open store: the operating system may have dropped the pages it could not write, and a second
     * force would not notice.
     *
     * @param afterBytes is called after each portion with its size, and may wait, so that a log on the same disk goes first
     */
    public void force(IntConsumer afterBytes) throws IOException {
        for (HeapSegment segment : segments) {
            if (segment.retain()) {
                try {
                    segment.force(afterBytes);
                } finally {
                    segment.release();
                }
            }
        }
    }
}
