package io.caravan.engine;

import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;

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
     * checkpoints) and makes durable what means something.
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
        if (recovered.cases().contains(RecoveryCase.GAP_BEHIND_WHAT_WAS_FORCED)) {
            withdrawCutOff(recovered);
        }
        forceEnd(recovered);
    }

    /**
     * The header of the last segment may be in the operating system's memory alone, if the process was killed before
     * its force, or the force failed. The next segment is made on the understanding that this one is finished. (Where a
     * checkpoint starts or a frame is, the header was forced before.)
     */
    private static void finishLastSegment(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        long lastUse = Math.max(recovered.newest().startLsn(), recovered.end().previousLsn());
        if (log.last() > log.geometry().segmentOf(lastUse)) {
            log.finishAnew(log.last());
        }
    }

    /**
     * What still stands behind a gap that a power cut has left must not come to follow a frame that is written into the
     * gap, as it would when that has the size of the one which was lost.
     */
    private static void withdrawCutOff(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        Set<Long> touched = new TreeSet<>();
        for (long lsn : recovered.end().cutOff()) {
            long segment = log.geometry().segmentOf(lsn);
            // The last one is discarded when another power cut has come while its header was written once more.
            if (log.ready(segment)) {
                log.withdraw(lsn);
                touched.add(segment);
            }
        }
        force(log, touched);
    }

    /**
     * A frame that was withdrawn may still be on the disk, its withdrawal in the operating system's memory alone: it
     * must not come back once the log is seen to end before it. One was to stand at the end, or first in the next
     * segment, and where writes of several commits were not forced, others behind it. Those have the places that the
     * next frames get, each of which names the one before: should a power cut take one of the next, the old one would
     * follow in its place. The zeros are written once more, as an earlier force of them may have failed too.
     */
    private static void forceEnd(Recovered recovered) throws IOException {
        LogSegments log = recovered.log();
        long end = log.geometry().segmentOf(recovered.end().position());
        Set<Long> touched = new TreeSet<>();
        for (long segment = end; segment <= Math.min(end + 1, log.last()); segment++) {
            log.withdrawAgain(
                    segment == end ? recovered.end().position() : log.geometry().firstFrame(segment));
            touched.add(segment);
        }
        for (long lsn : recovered.end().withdrawn()) {
            long segment = log.geometry().segmentOf(lsn);
            // The last one may have been half made, and is discarded then.
            if (log.ready(segment)) {
                log.withdrawAgain(lsn);
                touched.add(segment);
            }
        }
        force(log, touched);
    }

    private static void force(LogSegments log, Set<Long> segments) throws IOException {
        for (long segment : segments) {
            log.file(segment).force();
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
