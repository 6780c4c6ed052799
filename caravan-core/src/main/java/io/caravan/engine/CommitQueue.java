package io.caravan.engine;

import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteCallback;
import io.caravan.format.FrameLayout;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import org.jspecify.annotations.Nullable;

/**
 * Manages two commits that alternate: writers fill the active commit under the store's lock while a flush writes the
 * other commit. A flush begins by replacing the active commit with the spare commit, so a second flush cannot begin
 * until the first flush ends. {@link FlushScheduler} decides when a flush begins.
 *
 * <p>The queue also tracks the tail of the log. A frame is placed just before its first record is added: after the
 * previous frame, or at the start of the next segment if the record would not fit.
 *
 * <p>An append also requires a ready segment after the segment of its frame. This segment is the reserve in which trims
 * and deletes continue when the disk is full. Appends may use only the front of the reserve. Once the log has entered
 * the reserve, checkpoints can free the preceding segment.
 */
final class CommitQueue {
    private final StoreState state;
    private final FlushScheduler demand;
    private final Provisioner provisioner;
    private final LogGeometry geometry;

    private Commit active;
    /** The commit that replaces the active commit when a flush begins. Null while a flush is in progress. */
    private @Nullable Commit spare;
    /** Position after the last sealed frame. */
    private long tail;

    private long lastSealedLsn;

    CommitQueue(StoreState state, FlushScheduler demand, Provisioner provisioner, LogScanner.End end, Commit spare) {
        this.state = state;
        this.demand = demand;
        this.provisioner = provisioner;
        this.geometry = state.geometry;
        this.active = demand.active();
        this.spare = spare;
        this.tail = end.position();
        this.lastSealedLsn = end.last().lsn();
    }

    /** Returns the maximum total size of the records of one write, which must fit in a buffer and in a segment. */
    int maxRecordBytes() {
        int segmentBytes = geometry.remaining(geometry.firstFrame(0)) - FrameLayout.HEADER_BYTES;
        return Math.min(active.frame().capacityBytes(), segmentBytes);
    }

    // The remaining methods are called under the store's lock.

    /**
     * Waits until the active commit has space for records of this size, and returns the commit.
     *
     * @param releases whether the write frees space, and may therefore use the reserve
     * @param mayWait whether the caller may wait for space
     * @throws NotWritableException if the commit lacks the space and the caller may not wait
     * @throws OutOfSpaceException if the disk has no space for the next log segment
     */
    Commit makeRoom(int bytes, boolean releases, boolean mayWait) {
        state.checkWritable();
        state.checkLeads();
        while (!admits(bytes, releases)) {
            if (!active.frame().isEmpty() || active.full()) {
                demand.requireFlush();
                state.awaitRoom(mayWait);
            } else {
                boolean fits = bytes + FrameLayout.HEADER_BYTES <= geometry.remaining(tail);
                if (!place(fits ? tail : nextSegment(), releases)) {
                    state.awaitRoom(mayWait);
                }
            }
        }
        return active;
    }

    private boolean admits(int bytes, boolean releases) {
        return !active.full()
                && active.frame().fits(bytes)
                && (releases
                        || provisioner.lastReadySegment() > active.segment()
                        || geometry.isInFront(active.frame().baseLsn()));
    }

    /** Waits until the active commit has no records. */
    void awaitEmpty() {
        while (!active.frame().isEmpty()) {
            demand.requireFlush();
            state.awaitRoom(true);
        }
    }

    /**
     * Waits until the segment of a leader's frame is ready, and places the frame at the LSN that it had on the leader.
     * Returns the commit to fill. After a wait, a different commit may be active than at the call, because a flush
     * takes even an empty commit.
     */
    Commit placeAt(long lsn) {
        while (!place(lsn, true)) {
            state.awaitRoom(true);
        }
        return active;
    }

    /** Places the active commit's empty frame at this LSN. Returns false if the required segments are not ready yet. */
    private boolean place(long lsn, boolean releases) {
        long segment = geometry.segmentOf(lsn);
        boolean needsNext = !releases && !geometry.isInFront(lsn);
        if (provisioner.lastReadySegment() < (needsNext ? segment + 1 : segment)) {
            if (provisioner.isLogOutOfSpace()) {
                throw new OutOfSpaceException(state.name() + " cannot make its next log segment: "
                        + provisioner.logProblem() + "; " + Provisioner.advice(provisioner.logProblem())
                        + "; appends resume by themselves");
            }
            provisioner.wake();
            return false;
        }
        active.frame().place(lsn, geometry);
        active.placedIn(segment);
        provisioner.enteredSegment(segment);
        return true;
    }

    void add(WriteCallback callback, long sequence, Commit.Terms terms) {
        active.add(callback, sequence);
        active.require(terms.level());
        demand.added(terms.flushDelayNanos());
    }

    /**
     * Starts the flush of the record at this LSN without waiting for more writes, unless the flush is already in
     * progress.
     */
    void requireFlushOf(long lsn) {
        if (lsn >= tail && !demand.urgent()) {
            demand.requireFlush();
        }
    }

    Commit active() {
        return active;
    }

    boolean flushing() {
        return spare == null;
    }

    /**
     * Whether the active commit should be flushed now and no flush is in progress. Stops waiting for write groups that
     * have been open for too long.
     */
    boolean hasWork() {
        return spare != null && demand.hasWork();
    }

    /**
     * Begins a flush if the active commit should be flushed now and no flush is in progress. Returns the commit to
     * flush.
     */
    @Nullable
    Commit beginFlush() {
        Commit next = spare;
        if (next == null || !demand.hasWork()) {
            return null;
        }
        Commit sealed = active;
        spare = null;
        active = next;
        if (!sealed.frame().isEmpty()) {
            tail = geometry.positionAfter(sealed.frame().endLsn());
            lastSealedLsn = sealed.frame().baseLsn();
            // If the segment is full to its last byte, the tail lies in the next segment. The provisioner is notified
            // now, because the next frame can be placed only once the segments after the tail are ready.
            provisioner.enteredSegment(geometry.segmentOf(tail));
        }
        sealed.sealed(tail, demand.sealed(active));
        state.signalChange();
        return sealed;
    }

    /**
     * Ends the flush of a commit whose callbacks have been called. Wakes the flusher if another flush is due, for
     * example for writes that were added during this flush.
     */
    void endFlush(Commit commit) {
        commit.clear();
        spare = commit;
        state.signalChange();
        if (hasWork()) {
            demand.wakeFlusher();
        }
    }

    /** Returns an LSN that lies after all records so far, and not after any later record. */
    long nextLsn() {
        return active.frame().isEmpty() ? tail : active.frame().endLsn();
    }

    long tail() {
        return tail;
    }

    /** Returns the LSN of the first frame in the segment after the segment of the tail. */
    long nextSegment() {
        return geometry.firstFrame(geometry.segmentOf(tail) + 1);
    }

    /** Returns the LSN of the frame that will follow the active commit's frame. */
    long position() {
        return active.frame().isEmpty()
                ? tail
                : geometry.positionAfter(active.frame().endLsn());
    }

    /** Returns the LSN at which a replay must start to include all records that are not sealed yet. */
    long replayStart() {
        return active.frame().isEmpty() ? tail : active.frame().baseLsn();
    }

    long lastSealedLsn() {
        return lastSealedLsn;
    }

    /** Whether a write would probably find space in the log, or be rejected, without waiting. */
    boolean writable() {
        return active.roomy()
                && (provisioner.lastReadySegment() > geometry.segmentOf(tail) + 1 || provisioner.isLogOutOfSpace());
    }
}
