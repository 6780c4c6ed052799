package io.caravan.engine;

import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FsyncedLsnLayout;
import io.caravan.heap.HeapFile;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.security.SecureRandom;

/** Creates a store's first files. The checkpoint is created last: once it exists, the store exists. */
final class StoreFactory {

    private StoreFactory() {}

    /** Returns a random id, which no other store has. */
    static long newStoreId() {
        return new SecureRandom().nextLong();
    }

    static void create(Storage storage, StoreConfig config, long storeId) throws IOException {
        LogGeometry geometry = new LogGeometry(config.logSegmentBytes());
        try (LogSegments log = new LogSegments(storage, geometry, storeId)) {
            log.prepareNext();
        }
        HeapGeometry heapGeometry = new HeapGeometry(config.heapSegmentBytes());
        try (HeapFile heapFile = new HeapFile(storage, heapGeometry, storeId)) {
            heapFile.createNext();
        }
        storage.create(FileNames.FORCED_LSN, FsyncedLsnLayout.BYTES).close();
        long start = geometry.firstFrame(0);
        try (CheckpointWriter writer = new CheckpointWriter(storage, 0)) {
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                writer.startPartition(partition, start);
                writer.endPartition();
            }
            writer.publish(new CheckpointHeader(
                    FileHeader.NEWEST_VERSION,
                    0,
                    storeId,
                    start,
                    start,
                    FrameLayout.Link.NONE,
                    0,
                    0,
                    config.logSegmentBytes(),
                    config.heapSegmentBytes(),
                    1,
                    ListIndex.PARTITIONS));
        }
    }

    /**
     * Checks that the configured values fit in the segments. The segment sizes were fixed when the store was created.
     */
    static void checkFits(StoreConfig config, CheckpointHeader header) {
        int logBytes = config.maxValueBytes() + StoreConfig.BLOCK_BYTES;
        int heapBytes = EntryLayout.entryBytes(config.maxValueBytes());
        if (logBytes > header.logSegmentBytes() - StoreConfig.BLOCK_BYTES
                || heapBytes > new HeapGeometry(header.heapSegmentBytes()).usableBytes()) {
            throw new StoreDirectoryException(
                    "the store in " + config.directory() + " was created with log segments of "
                            + header.logSegmentBytes() + " and heap segments of " + header.heapSegmentBytes()
                            + " bytes, too small for values of " + config.maxValueBytes()
                            + " bytes; lower maxValueBytes, or copy the lists into a new store");
        }
    }
}
