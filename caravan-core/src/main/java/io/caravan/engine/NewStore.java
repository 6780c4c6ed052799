package io.caravan.engine;

import io.caravan.StoreConfig;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FsyncedLsnLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;

/**
 * Writes the files of a new store: an empty log, a heap without holes between values, and one checkpoint. The
 * checkpoint is published last: once it exists, the store exists. The lists of a new store have the creation LSN 0,
 * which no record can have.
 */
public final class NewStore implements AutoCloseable {
    private static final long CREATION_LSN = 0;

    private final long storeId;
    private final LogGeometry logGeometry;
    private final HeapFile heapFile;
    private final CheckpointWriter checkpoint;
    private long address;

    /** Creates the files of the store, except for the checkpoint. */
    public NewStore(Storage storage, long storeId, int logSegmentBytes, int heapSegmentBytes) throws IOException {
        this.storeId = storeId;
        this.logGeometry = new LogGeometry(logSegmentBytes);
        try (LogSegments log = new LogSegments(storage, logGeometry, storeId)) {
            log.prepareNext();
        }
        heapFile = new HeapFile(storage, new HeapGeometry(heapSegmentBytes), storeId);
        try {
            heapFile.createNext();
            address = heapFile.geometry().firstAddress(0);
            storage.create(FileNames.FORCED_LSN, FsyncedLsnLayout.BYTES).close();
            checkpoint = new CheckpointWriter(storage, 0);
        } catch (IOException | RuntimeException failed) {
            heapFile.close();
            throw failed;
        }
    }

    /** Creates a store without lists. */
    static void createEmpty(Storage storage, StoreConfig config, long storeId) throws IOException {
        try (NewStore store = new NewStore(storage, storeId, config.logSegmentBytes(), config.heapSegmentBytes())) {
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                store.startPartition(partition);
                store.endPartition();
            }
            store.publish();
        }
    }

    /** Returns a random id, so that no two stores have the same id. */
    public static long newStoreId() {
        return new SecureRandom().nextLong();
    }

    public void startPartition(int partition) {
        checkpoint.startPartition(partition, logGeometry.firstFrame(0));
    }

    public void endPartition() throws IOException {
        checkpoint.endPartition();
    }

    /** Writes a value to the heap. Returns its region. */
    public long write(long id, long sequence, ByteBuffer value) throws IOException {
        HeapGeometry heapGeometry = heapFile.geometry();
        int length = value.remaining();
        int bytes = EntryLayout.entryBytes(length);
        if (bytes > heapGeometry.usableBytes()) {
            throw new IOException("a value of " + length + " bytes does not fit in heap segments of "
                    + heapGeometry.segmentBytes() + " bytes");
        }
        if (!heapGeometry.contains(address, bytes)) {
            heapFile.force();
            heapFile.createNext();
            address = heapGeometry.firstAddress(heapFile.segmentCount() - 1);
        }
        ByteBuffer entry = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int crc = Checksums.crc32c(value, value.position(), length);
        entry.putInt(EntryLayout.CHECKSUM, EntryLayout.checksum(crc, length, id, CREATION_LSN, sequence));
        entry.putInt(EntryLayout.LENGTH, length);
        entry.put(EntryLayout.VALUE, value, value.position(), length);
        long region = Region.pack(address, length);
        heapFile.write(address, entry);
        address += bytes;
        return region;
    }

    /** Adds a list whose values have been written. The sequences of the values end before {@code next}. */
    public void list(long id, long next, long[] regions, int count) throws IOException {
        checkpoint.list(id, CREATION_LSN, next - count, next);
        checkpoint.regions(regions, 0, count);
    }

    /** Completes the store, which is durable when this method returns. */
    public void publish() throws IOException {
        heapFile.force();
        long start = logGeometry.firstFrame(0);
        checkpoint.publish(new CheckpointHeader(
                FileHeader.NEWEST_VERSION,
                0,
                storeId,
                start,
                start,
                FrameLayout.Link.NONE,
                checkpoint.lists(),
                checkpoint.entries(),
                logGeometry.segmentBytes(),
                heapFile.geometry().segmentBytes(),
                heapFile.segmentCount(),
                ListIndex.PARTITIONS));
    }

    @Override
    public void close() throws IOException {
        try {
            checkpoint.close();
        } finally {
            heapFile.close();
        }
    }
}
