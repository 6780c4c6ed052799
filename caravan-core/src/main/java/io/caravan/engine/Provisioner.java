package io.caravan.engine;

import io.caravan.format.CheckpointLayout;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates log segments before they are needed, and removes segments that no checkpoint needs any longer. No other
 * component adds or removes segments. If the disk has no space, the provisioner reports this ({@link
 * #isLogOutOfSpace()}) and retries until space is available.
 *
 * <p>The provisioner reserves disk space for the next checkpoints. The log never takes the space that a checkpoint
 * needs to shorten the log, and the heap never takes the space that a checkpoint file needs. Other programs may still
 * use that space.
 */
final class Provisioner {
    private static final Logger LOG = LoggerFactory.getLogger(Provisioner.class);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Number of ready segments after the segment in use: the next segment, and the reserve for trims and deletes. */
    private static final int READY_AHEAD = 2;
    /** Maximum number of segments kept for recycling, so that a steady load creates no new files. */
    private static final int KEPT_AHEAD = 8;
    /** The number by which the log segment size is divided to obtain the space reserved for file system overhead. */
    private static final int SLACK_SHARE = 32;
    /** The minimum ratio of the size of an entry's record in the log to the size of its region in the index. */
    private static final int RECORD_TO_REGION = 4;

    private final StoreState state;
    private final HeapSpace space;
    private final LogSegments log;
    private final LogGeometry geometry;
    private final LongSupplier logEnd;
    private final long slackBytes;
    /** The leases that backups hold on files. */
    private final List<Lease> leases = new CopyOnWriteArrayList<>();

    private volatile long enteredSegment;
    private volatile long lastReadySegment;
    private volatile long neededLogSegment;
    private volatile long newestCheckpointBytes;
    private volatile @Nullable IOException logProblem;
    private volatile @Nullable IOException logKept;
    /** The reason why an unneeded segment could not be removed in the last step, or null. */
    private @Nullable IOException removalProblem;

    /**
     * Creates the provisioner of a recovered store.
     *
     * @param logEnd returns the end of the log, including records that are not sealed yet; called under the store's
     *     lock
     */
    Provisioner(StoreState state, HeapSpace space, LongSupplier logEnd, Recovered recovered) {
        this.state = state;
        this.space = space;
        this.log = state.log;
        this.geometry = state.geometry;
        this.logEnd = logEnd;
        this.slackBytes = 2L * state.heapFile.geometry().growthBytes() + geometry.segmentBytes() / SLACK_SHARE;
        this.newestCheckpointBytes = recovered.newestBytes();
        this.enteredSegment = state.geometry.segmentOf(recovered.end().position());
        this.neededLogSegment =
                state.geometry.segmentOf(recovered.checkpoints().get(0).startLsn());
        this.lastReadySegment = log.last();
    }

    void wake() {
        state.wakes.provisioner().run();
    }

    /** Records that frames are now placed in this segment. */
    void enteredSegment(long segment) {
        if (segment > enteredSegment) {
            enteredSegment = segment;
            wake();
        }
    }

    long currentSegment() {
        return enteredSegment;
    }

    long lastReadySegment() {
        return lastReadySegment;
    }

    boolean isLogOutOfSpace() {
        return logProblem != null;
    }

    /** Returns the number of the first log segment that a checkpoint still needs. */
    long neededLogSegment() {
        return neededLogSegment;
    }

    /** Returns the reason why the log cannot grow. */
    String logProblem() {
        IOException problem = logProblem;
        String cause = problem == null ? "the disk had no space a moment ago" : String.valueOf(problem.getMessage());
        IOException kept = logKept;
        return kept == null ? cause : cause + "; " + kept.getMessage();
    }

    /** Returns advice on an operating system error about a file that cannot be created or extended. */
    static String advice(String problem) {
        return problem.toLowerCase(Locale.ROOT).contains("too many open files")
                ? "the disk may have space, but this process may open no more files: raise its limit (LimitNOFILE in the"
                        + " systemd unit, or ulimit -n), or have fewer connections"
                : "make space on its disk";
    }

    /** Records the reason why checkpoints cannot shorten the log; null if they can. */
    void logKept(@Nullable IOException reason) {
        logKept = reason;
    }

    void published(long checkpointBytes) {
        newestCheckpointBytes = checkpointBytes;
    }

    /** Records that no checkpoint needs log segments before this one. */
    void release(long logSegment) {
        neededLogSegment = logSegment;
        wake();
    }

    /**
     * A claim on files that are being copied, which must not be removed even if no checkpoint needs them any longer.
     *
     * @param logSegment the first log segment to keep
     * @param heapSegments the number of heap segments to keep, counted from the first
     */
    record Lease(long logSegment, int heapSegments) {}

    /** Adds a lease on files that a checkpoint still needs. May be called on any thread. */
    void take(Lease lease) {
        leases.add(lease);
    }

    /** Ends a lease. May be called on any thread. */
    void endLease(Lease lease) {
        leases.remove(lease);
        wake();
    }

    /** Returns the number of heap segments to keep, given that checkpoints need this many. */
    int leasedHeapSegments(int needed) {
        return leases.stream().mapToInt(Lease::heapSegments).reduce(needed, Math::max);
    }

    /** Removes the segments that are not needed, and creates those that are; see {@link Worker.Step}. */
    long step() {
        IOException removalBefore = removalProblem;
        IOException before = logProblem;
        try {
            retire();
            removalProblem = null;
        } catch (IOException kept) {
            removalProblem = kept;
        }
        lastReadySegment = log.last();
        try {
            provide();
            logProblem = null;
        } catch (IOException rejected) {
            logProblem = rejected;
        }
        countFailure(removalBefore, removalProblem);
        countFailure(before, logProblem);
        signalChange();
        boolean outOfSpace = isLogOutOfSpace();
        if (outOfSpace) {
            // A checkpoint may free log segments.
            state.wakes.checkpointer().run();
        }
        report(removalBefore, before);
        return outOfSpace ? RETRY_NANOS : Worker.UNTIL_WOKEN;
    }

    private void countFailure(@Nullable IOException before, @Nullable IOException now) {
        if (before == null && now != null) {
            state.locked(() -> state.counters.failures++);
        }
    }

    /** Logs the problems that are new or solved. Called at the end of a step, because a logger may throw. */
    private void report(@Nullable IOException removalBefore, @Nullable IOException before) {
        if (removalBefore == null && removalProblem != null) {
            LOG.warn(
                    "{}: an unneeded log segment cannot be removed; the next segment or checkpoint tries again",
                    state.name(),
                    removalProblem);
        } else if (removalBefore != null && removalProblem == null) {
            LOG.info("{}: unneeded log segments can be removed again", state.name());
        }
        if (before == null && logProblem != null) {
            LOG.warn("{}: the log cannot grow, so appends may be rejected; trying again", state.name(), logProblem);
        } else if (before != null && logProblem == null) {
            LOG.info("{}: the log can grow again", state.name());
        }
    }

    private void provide() throws IOException {
        discardIdle();
        while (log.last() < enteredSegment + READY_AHEAD) {
            if (geometry.startOf(log.last() + 2 - neededLogSegment) > Region.MAX_LOG_BYTES) {
                throw new IOException("the log has the greatest length that it may have between checkpoints, "
                        + Region.MAX_LOG_BYTES + " bytes");
            }
            long lacking = lackingForLog(log.last() + 1, geometry.segmentBytes());
            if (lacking > 0) {
                throw new IOException("No space left on device for it and the next checkpoint: " + lacking
                        + " bytes more are needed");
            }
            log.prepareNext();
            lastReadySegment = log.last();
            signalChange();
        }
    }

    /**
     * Recycles unneeded segments as long as the log may have more ready segments, and deletes the others. If this
     * fails, the log can still grow, and the next step tries again. A step runs when the log enters a segment, when a
     * checkpoint or a lease no longer needs a segment, and while the log has no space.
     */
    private void retire() throws IOException {
        // Read before the leases: a backup takes a lease before its checkpoint can be superseded.
        long checkpointNeeds = neededLogSegment;
        long needed = leases.stream().mapToLong(Lease::logSegment).reduce(checkpointNeeds, Math::min);
        while (log.first() < needed) {
            if (log.last() < enteredSegment + KEPT_AHEAD && mayRecycle()) {
                log.recycleFirst();
            } else {
                log.deleteFirst();
            }
        }
    }

    private boolean mayRecycle() {
        try {
            return mayHave(log.last() + 1);
        } catch (IOException unknown) {
            // If the log also has to grow, it reports this problem.
            return false;
        }
    }

    private boolean mayHave(long segment) throws IOException {
        return lackingForLog(segment, 0) <= 0;
    }

    /**
     * Returns how many more bytes of disk space the log needs to extend to this last segment; zero or less if the space
     * suffices. Appends may fill all earlier segments and parts of the last one, and all appended entries may survive.
     * The heap must then be able to grow for the entries that do not fit in its free space.
     *
     * @param takes number of bytes that the segment would take
     */
    private long lackingForLog(long last, long takes) throws IOException {
        long needed = takes + state.locked(() -> neededForLog(last));
        // The free space is measured last. Space that a checkpoint takes in between is therefore counted twice rather
        // than missed.
        return needed - state.storage.usableBytes();
    }

    private long neededForLog(long last) {
        long appendEnd = geometry.startOf(last) + geometry.frontBytes();
        long appendable = Math.max(0, appendEnd - logEnd.getAsLong());
        // The slack is enough for what the records of deletions in the reserve add to a checkpoint file.
        long shortage = space.shortage(appendable + CommitQueue.deletionBytes(geometry));
        return fileBytes(appendable) + slackBytes + (shortage > 0 ? shortage + 2 * slackBytes : 0);
    }

    /**
     * Returns how many more bytes of disk space the heap needs to grow; zero or less if the space suffices. The
     * remaining space must suffice for the log to recycle a segment, so that the log can continue once documents are
     * deleted. The values that are then left may be smaller than the present ones.
     *
     * @param takes number of bytes that the heap would take
     */
    long lackingForHeap(long takes) throws IOException {
        long appendable = 2L * geometry.segmentBytes();
        long files = Math.max(state.locked(() -> fileBytes(appendable)), appendable / RECORD_TO_REGION);
        long needed = takes + files + 2 * slackBytes;
        return needed - state.storage.usableBytes();
    }

    /** Returns the total size of the next two checkpoint files, minus the size of the files that they replace. */
    private long fileBytes(long appendable) {
        long bytes = checkpointBytes(appendable);
        return bytes + Math.max(0, bytes - newestCheckpointBytes);
    }

    /**
     * Returns the estimated size of a checkpoint file after this many more bytes have been appended to the log, if the
     * mean value size stays the same.
     */
    private long checkpointBytes(long appendable) {
        long entries = state.index.entryCount();
        long bytes = CheckpointLayout.fileBytes(state.index.listCount(), entries);
        long valueBytes = space.usedBytes() + entries * RecordLayout.ENTRY;
        double share = (double) (bytes - CheckpointLayout.fileBytes(0, 0)) / Math.max(1, valueBytes);
        return bytes + (long) Math.min(share * appendable, (double) appendable / RECORD_TO_REGION);
    }

    /**
     * Deletes ready segments, starting with the last, as long as the next checkpoint needs their space. One ready
     * segment stays: the reserve for trims and deletes. After a failed checkpoint, this method also deletes the
     * segments that are kept only so that fewer files are created.
     */
    private void discardIdle() throws IOException {
        while (log.last() > enteredSegment + 1
                && (log.last() > enteredSegment + READY_AHEAD && state.locked(space::checkpointFailed)
                        || !mayHave(log.last()))
                && removeLast(log.last())) {
            log.discard(log.last());
        }
    }

    /**
     * Prevents frames from being placed in the last segment. Returns false if the segment before it was entered in the
     * meantime.
     */
    private boolean removeLast(long last) {
        return state.locked(() -> {
            boolean idle = last > enteredSegment + 1;
            lastReadySegment = idle ? last - 1 : last;
            return idle;
        });
    }

    /** Wakes writers that are waiting for space, and the flusher, which runs the actions that await writability. */
    private void signalChange() {
        state.locked(() -> state.signalChange());
        state.wakes.flusher().run();
    }
}
