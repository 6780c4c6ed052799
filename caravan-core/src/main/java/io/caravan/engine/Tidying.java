package io.caravan.engine;

import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.wal.LogSegments;
import java.io.IOException;

/** The changes that opening makes to a store's files, when {@link Recovery} has decided what they mean. */
final class Tidying {
    private final Storage storage;
    private final StoreFiles files;

    Tidying(Storage storage, StoreFiles files) {
        this.storage = storage;
        this.files = files;
    }

    /**
     * Removes what means nothing (temporary files, a half-made log segment, heap segments behind a gap, bad
     * checkpoints) and makes durable what means something, before anybody sees it.
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
        // First the names, so that nothing is written into segments whose checkpoint a power cut could still take.
        storage.forceDirectory();
        finishLastSegment(recovered);
        log.settle(recovered.newest().startLsn(), recovered.end());
    }

    /**
     * The header of the last segment may be in the operating system's memory alone, if the process was killed before
     * its force, or the force failed. The next segment is made on the understanding that this one is finished. (Where a
     * checkpoint starts or a frame is, the header was forced before.)
     */
    private static void finishLastSegment(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        long lastUse =
                Math.max(recovered.newest().startLsn(), recovered.end().last().lsn());
        if (log.last() > log.geometry().segmentOf(lastUse)) {
            log.finishAnew(log.last());
        }
    }

    /** Removes the leavings of a creation that was cut off. */
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
