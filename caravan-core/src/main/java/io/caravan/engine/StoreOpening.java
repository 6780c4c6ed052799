package io.caravan.engine;

import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.heap.HeapGeometry;
import io.caravan.io.Storage;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Opens or creates the files of a store. This class makes all changes to existing files that an open requires, after
 * {@link Recovery} has determined the state of the store.
 */
record StoreOpening(Storage storage, StoreConfig config) {
    /**
     * Recovers the store, after creating it if it does not exist.
     *
     * @param replicaOf the id of the store of which this store is a replica, if it is one
     * @param fsyncedLsn the position up to which a replica's log was fsynced
     * @param newId returns the id of a store that is created and is not a replica
     */
    Recovered recoverOrCreate(OptionalLong replicaOf, OptionalLong fsyncedLsn, LongSupplier newId) throws IOException {
        Recovery recovery = new Recovery(storage, VerifyReport.Progress.NONE, fsyncedLsn, false);
        if (recovery.nothingToOpen()) {
            removeRemains(recovery);
            NewStore.createEmpty(storage, config, replicaOf.orElseGet(newId));
            recovery = recovery.ofCreated();
        }
        Recovered recovered = recovery.recover();
        try {
            long found = recovered.newest().storeId();
            if (replicaOf.orElse(found) != found) {
                throw new StoreDirectoryException("the store in " + config.directory() + " is "
                        + Long.toHexString(found) + ", not a replica of " + Long.toHexString(replicaOf.getAsLong())
                        + "; give the replica a directory of its own");
            }
            checkFits(recovered.newest());
            cleanUp(recovery, recovered);
            return recovered;
        } catch (IOException | RuntimeException | Error failed) {
            recovered.close();
            throw failed;
        }
    }

    /** Checks that the configured values fit in the segments, whose sizes were fixed when the store was created. */
    private void checkFits(CheckpointHeader header) {
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

    /** Removes files that an interrupted creation of the store has left behind. */
    private void removeRemains(Recovery files) throws IOException {
        for (String name : files.temporaries) {
            storage.delete(name);
        }
        delete(FileNames.LOG, files.logs);
        delete(FileNames.HEAP, files.heaps);
        storage.forceDirectory();
    }

    private void delete(FileNames kind, Iterable<Long> numbers) throws IOException {
        for (long number : numbers) {
            storage.delete(kind.of(number));
        }
    }

    /**
     * Removes files that are not needed: temporary files, an unfinished log segment, unused heap segments, and bad
     * checkpoints. Makes the remaining files durable before any reader sees their contents.
     */
    private void cleanUp(Recovery files, Recovered recovered) throws IOException {
        for (String name : files.temporaries) {
            storage.delete(name);
        }
        LogSegments log = recovered.log();
        if (!Recovery.finished(log, log.last())) {
            log.discard(log.last());
        }
        delete(FileNames.HEAP, files.heaps.tailSet((long) recovered.heapFile().segmentCount()));
        delete(FileNames.CHECKPOINT, recovered.badCheckpoints());
        // Names are made durable first, so that no frame is written to segments whose checkpoint a power failure could
        // still remove.
        storage.forceDirectory();
        finishLastSegment(recovered);
        log.settle(recovered.newest().startLsn(), recovered.end());
    }

    /**
     * Rewrites the header of the last segment, because the header may be only in the page cache. This happens if the
     * process was killed before the fsync of the header, or if this fsync failed. The creation of the next segment
     * relies on the last segment being finished. (A segment that contains a frame or a checkpoint's start had its
     * header fsynced before.)
     */
    private static void finishLastSegment(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        long lastUse =
                Math.max(recovered.newest().startLsn(), recovered.end().last().lsn());
        if (log.last() > log.geometry().segmentOf(lastUse)) {
            log.rewriteHeader(log.last());
        }
    }
}
