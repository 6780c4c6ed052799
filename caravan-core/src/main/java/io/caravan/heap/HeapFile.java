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
import io.caravan.io.Zeros;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The values, in memory-mapped segment files.
 *
 * <p>Written only from frames that are already durable, by one thread (the flusher, or recovery); read by any number of
 * threads. Segments are added and dropped by the provisioner and the checkpointer, and published by replacing the array
 * of them, so that readers take no lock. A dropped segment's mapping lives until the last reader has let go of it.
 */
public final class HeapFile {

    /** Forced at a time: a force of the log that comes in between waits a fraction of a millisecond for it. */
    private static final int MAX_SLICE_BYTES = 1 << 20;

    private static final int MIN_SLICES = 4;

    private static final class Segment {
        final MappedFile mapping;
        final ByteBuffer memory;
        final ByteBuffer readOnly;
        final String path;
        final int sliceBytes;
        /** One for each slice that was written since it was forced. */
        final AtomicIntegerArray dirty;
        /** Whether the file's size and name may not be durable yet. */
        volatile boolean fresh;

        Segment(String path, MappedFile mapping) {
            this.mapping = mapping;
            this.memory = mapping.buffer();
            this.readOnly = memory.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
            this.path = path;
            this.sliceBytes = Math.min(MAX_SLICE_BYTES, memory.capacity() / MIN_SLICES);
            this.dirty = new AtomicIntegerArray((memory.capacity() - 1) / sliceBytes + 1);
        }

        void written(int offset, int bytes) {
            for (int slice = offset / sliceBytes; slice <= (offset + bytes - 1) / sliceBytes; slice++) {
                dirty.set(slice, 1);
            }
        }

        void force(Runnable between) throws IOException {
            for (int slice = 0; slice < dirty.length(); slice++) {
                // The mark goes before the force, so that a write during it is not forgotten.
                if (dirty.getAndSet(slice, 0) != 0) {
                    int from = slice * sliceBytes;
                    mapping.force(from, Math.min(sliceBytes, memory.capacity() - from));
                    between.run();
                }
            }
        }
    }

    private final Storage storage;
    private final HeapGeometry geometry;
    private final long storeId;
    private final boolean privately;
    private volatile Segment[] segments = new Segment[0];

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
            publish(new Segment(file.path(), privately ? file.mapPrivately() : file.map()));
        }
    }

    /**
     * As {@link #openNext}, for a segment that no checkpoint counts on: a crash may have left it with any size, and without
     * a header.
     *
     * @return whether it is there and whole
     */
    public boolean openNextIfWhole() throws IOException {
        try {
            openNext();
            return true;
        } catch (NoSuchFileException | CorruptStoreException unfinished) {
            return false;
        }
    }

    /**
     * Writes the segments from a number on all over with zeros, as {@link #createNext} does: those that were not forced may
     * have lost some of their space in a power loss, and a mapped write to where there is none must not be.
     */
    public void renewFrom(int first) throws IOException {
        for (int number = first; number < segments.length && !privately; number++) {
            try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
                Zeros.write(file, Blocks.BLOCK_BYTES, geometry.segmentBytes());
            }
            unforced(number);
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

    /** The refusal when a segment that holds live data has no file. */
    public StoreDirectoryException missing(int number) {
        return new StoreDirectoryException(storage.describe(FileNames.HEAP.of(number))
                + " is missing: it holds part of the store's values; put the file back, or restore the directory from a"
                + " backup");
    }

    /**
     * Makes the next segment, with space for all of it. Nothing of it, not even its name, is durable before {@link #force}:
     * no checkpoint may count on it until then, and until then the log has all that is written into it.
     */
    public void createNext() throws IOException {
        int number = segments.length;
        String name = FileNames.HEAP.of(number);
        if (privately) {
            publish(new Segment(storage.describe(name), new PrivateMemory(geometry.segmentBytes())));
            return;
        }
        try (StoreFile file = storage.createUnforced(name, geometry.segmentBytes())) {
            ByteBuffer block = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            FileHeader.put(block, FileHeader.Kind.HEAP_SEGMENT, header(number));
            file.write(block, 0);
            publish(new Segment(file.path(), file.map()));
            unforced(number);
        }
    }

    private void unforced(int number) {
        segments[number].fresh = true;
        segments[number].written(0, geometry.segmentBytes());
    }

    /** What a segment is when it has no file and shall get none. */
    private record PrivateMemory(ByteBuffer buffer) implements MappedFile {
        PrivateMemory(int bytes) {
            this(ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN));
        }

        @Override
        public void force(int from, int bytes) {
            // There is no disk behind it.
        }
    }

    private FileHeader.Fields header(int number) {
        return new FileHeader.Fields(storeId, number, geometry.segmentBytes());
    }

    private void publish(Segment segment) {
        Segment[] more = Arrays.copyOf(segments, segments.length + 1);
        more[segments.length] = segment;
        segments = more;
    }

    /** Forgets the segments from a number on and deletes their files; nothing live may be in them. */
    public void dropFrom(int count) throws IOException {
        int before = segments.length;
        segments = Arrays.copyOf(segments, count);
        for (int number = before - 1; number >= count; number--) {
            storage.delete(FileNames.HEAP.of(number));
        }
        storage.forceDirectory();
    }

    /** Copies an entry's bytes, which lie in the log as they shall lie here. */
    public void write(long address, ByteBuffer source, int at, int bytes) {
        Segment segment = segments[geometry.segmentOf(address)];
        int offset = geometry.offsetOf(address);
        segment.memory.put(offset, source, at, bytes);
        // Always, and after the bytes: whoever clears the mark and then forces has seen them.
        segment.written(offset, bytes);
    }

    /**
     * The value of an entry, checked; read-only, and valid as long as the region is pinned.
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
        return segment.readOnly.slice(offset + EntryLayout.VALUE, length);
    }

    private static boolean valid(Segment segment, int offset, int length, long id, long birth, long sequence) {
        try {
            return EntryLayout.valid(segment.readOnly, offset, length, id, birth, sequence);
        } catch (InternalError unreadable) {
            // How the JVM says that the disk could not read a mapped page.
            throw new CorruptStoreException(segment.path, offset, id, sequence, "cannot be read: " + unreadable);
        }
    }

    /** The path of the segment that an address lies in, whether it is there or not. */
    public String path(long address) {
        return storage.describe(FileNames.HEAP.of(geometry.segmentOf(address)));
    }

    /**
     * Returns when everything written before the call is durable, with the segments made before it. A failure is final for this open store: the operating
     * system may have dropped the pages it could not write, and a second force would not notice.
     *
     * @param between is run after each portion, and may wait: so a log on the same disk can be forced in between
     */
    public void force(Runnable between) throws IOException {
        Segment[] current = segments;
        boolean names = false;
        for (int number = 0; number < current.length; number++) {
            Segment segment = current[number];
            segment.force(between);
            if (segment.fresh) {
                segment.fresh = false;
                forceSize(number);
                names = true;
            }
        }
        if (names) {
            storage.forceDirectory();
        }
    }

    /** A force of a mapping is about its bytes. */
    private void forceSize(int number) throws IOException {
        try (StoreFile file = storage.open(FileNames.HEAP.of(number))) {
            file.force();
        }
    }
}
