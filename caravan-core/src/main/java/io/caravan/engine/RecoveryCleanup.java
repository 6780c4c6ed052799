package io.caravan.engine;

import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.wal.LogSegments;
import java.io.IOException;

/** The changes that opening a store makes to its files, after {@link Recovery} has decided what they mean. */
final class RecoveryCleanup {
    private final Storage storage;
    private final StoreFiles files;

    RecoveryCleanup(Storage storage, StoreFiles files) {
        this.storage = storage;
        this.files = files;
    }

    /**
     * Removes files that are not needed: temporary files, an unfinished log segment, unused heap segments, and bad
     * checkpoints. Makes the remaining files durable before any reader sees their contents.
     */
    void tidy(Recovered recovered) throws IOException {
        for (String name : files.temporaries()) {
            storage.delete(name);
        }
        LogSegments log = recovered.log();
        if (!Recovery.finished(log, log.last())) {
            log.discard(log.last());
        }
        for (long heap : files.heaps().tailSet((long) recovered.heapFile().segmentCount())) {
            storage.delete(FileNames.HEAP.of(heap));
        }
        for (long checkpoint : recovered.badCheckpoints()) {
            storage.delete(FileNames.CHECKPOINT.of(checkpoint));
        }
        // Names come first, so that no frame is written to segments whose checkpoint a power failure could still
        // remove.
        storage.forceDirectory();
        finishLastSegment(recovered);
        log.settle(recovered.newest().startLsn(), recovered.end());
    }

    /**
     * Rewrites the header of the last segment, because the header may be only in the page cache. That happens if the
     * process was killed before the fsync of the header, or this fsync failed. The next segment is created on the
     * assumption that the last segment is finished. (A segment that contains a frame or a checkpoint's start had its
     * header fsynced before.)
     */
    private static void finishLastSegment(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        long lastUse =
                Math.max(recovered.newest().startLsn(), recovered.end().last().lsn());
        if (log.last() > log.geometry().segmentOf(lastUse)) {
            log.finishAnew(log.last());
        }
    }

    /** Removes the remains of a creation that was interrupted. */
    void tidyNothing() throws IOException {
        for (String name : files.temporaries()) {
            storage.delete(name);
        }
        for (long number : files.logs()) {
            storage.delete(FileNames.LOG.of(number));
        }
        for (long number : files.heaps()) {
            storage.delete(FileNames.HEAP.of(number));
        }
        storage.forceDirectory();
    }
}
