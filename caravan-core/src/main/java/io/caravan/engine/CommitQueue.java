package io.caravan.engine;

import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteCallback;
import io.caravan.format.FrameLayout;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import org.jspecify.annotations.Nullable;

/**
 * Two commits that take turns: writers fill the active one under the store's lock while a flush works on the other. A
 * flush begins by taking the spare one's place, so there is none for a second flush. {@link FlushDemand} says when.
 *
 * <p>Also the log's tail: a commit's frame gets its place just before its first record, behind the frame before it, or
 * at the start of the next segment when the record would not fit. An append needs one more ready segment behind the
 * frame's: that one is the reserve with which trims and deletes go on when the disk is full. Only the reserve's front is
 * for appends too: once the log has gone on to it, checkpoints can free the segment before it.
 */
final class CommitQueue {
    private final StoreState state;
    private final FlushDemand demand;
    private final Provisioner provisioner;
    private final LogGeometry geometry;

    private Commit active;
    /** Takes the active commit's place when a flush begins. There is none while one is under way. */
    private @Nullable Commit spare;
    /** Where the frames sealed so far end. */
    private long tail;

    private long lastSealedLsn;

    CommitQueue(StoreState state, FlushDemand demand, Provisioner provisioner, LogScanner.End end, Commit spare) {
        this.state = state;
        this.demand = demand;
        this.provisioner = provisioner;
        this.geometry = state.geometry;
        this.active = demand.active();
        this.spare = spare;
        this.tail = end.position();
        this.lastSealedLsn = end.last().lsn();
    }

    /** The most that the records of one write may take together. */
    int maxRecordBytes() {
        return geometry.maxRecordBytes(active.frame().capacityBytes() + FrameLayout.HEADER_BYTES);
    }

    // The rest is called under the store's lock.

    /**
     * The active commit, with room for records of so many bytes; waits until there is.
     *
     * @param releases whether the write gives space back, and so may use the reserve
     * @param mayWait whether the caller may wait for room
     * @throws NotWritableException when there is no room, and the caller may not wait for it
     * @throws OutOfSpaceException when the disk has no space for the log's next segment
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

    /** Waits until the active commit has nothing in it. */
    void awaitEmpty() {
        while (!active.frame().isEmpty()) {
            demand.requireFlush();
            state.awaitRoom(true);
        }
    }

    /**
     * Places a leader's frame where it was on the leader; waits until its segment is ready. Returns the commit that takes
     * it: while it waits a flush may have taken the one that was active, though it was empty.
     */
    Commit placeAt(long lsn) {
        while (!place(lsn, true)) {
            state.awaitRoom(true);
        }
        return active;
    }

    /** Gives the active commit, which is empty, this place; false when the segments that it needs are not ready yet. */
    private boolean place(long lsn, boolean releases) {
        long segment = geometry.segmentOf(lsn);
        boolean needsNext = !releases && !geometry.isInFront(lsn);
        if (provisioner.lastReadySegment() < (needsNext ? segment + 1 : segment)) {
            if (provisioner.logStarved()) {
                throw new OutOfSpaceException(state.name() + " cannot make its next log segment: "
                        + provisioner.logProblem() + "; " + Remedy.of(provisioner.logProblem())
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

    /** Adds the callback of a write to the active commit. */
    void add(WriteCallback callback, long sequence, Commit.Terms terms) {
        active.add(callback, sequence);
        active.require(terms.level());
        demand.added(terms.flushDelayNanos());
    }

    /** Makes the flush of the record at this LSN start without waiting for company, unless it is under way. */
    void requireFlushOf(long lsn) {
        if (lsn >= tail && !demand.urgent()) {
            demand.requireFlush();
        }
    }

    Commit active() {
        return active;
    }

    /** Whether a flush is under way. */
    boolean flushing() {
        return spare == null;
    }

    /** Whether there is something to flush now, and no flush is under way. Gives up groups that have had their time. */
    boolean hasWork() {
        return spare != null && demand.hasWork();
    }

    /** Begins a flush if there is something to flush now, and no other is under way: returns the commit to be flushed. */
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
            // A segment that is full to its last byte is left here, not when the next frame is placed: nobody may place
            // one before the segments behind the tail are ready.
            provisioner.enteredSegment(geometry.segmentOf(tail));
        }
        sealed.sealed(tail, demand.sealed(active));
        state.changed.signalAll();
        return sealed;
    }

    /**
     * Ends the flush of a commit, whose writes have been answered. Wakes the flusher if there is something to flush again:
     * what was added since, and what the flusher left alone because of this flush.
     */
    void endFlush(Commit commit) {
        commit.clear();
        spare = commit;
        state.changed.signalAll();
        if (hasWork()) {
            demand.wakeFlusher();
        }
    }

    /** Every record so far lies before this, every later one at or behind it. */
    long nextLsn() {
        return active.frame().isEmpty() ? tail : active.frame().endLsn();
    }

    /** Where the frames sealed so far end. */
    long tail() {
        return tail;
    }

    /** Where the first frame of the segment behind the tail's goes. */
    long nextSegment() {
        return geometry.firstFrame(geometry.segmentOf(tail) + 1);
    }

    /** Where the frame behind the active one goes. */
    long position() {
        return active.frame().isEmpty()
                ? tail
                : geometry.positionAfter(active.frame().endLsn());
    }

    /** Where a replay of everything that is not sealed yet has to start. */
    long replayStart() {
        return active.frame().isEmpty() ? tail : active.frame().baseLsn();
    }

    /** LSN of the last frame that was sealed. */
    long lastSealedLsn() {
        return lastSealedLsn;
    }

    /** Whether a write would most likely find room in the log, or be refused, but not wait. */
    boolean writable() {
        return active.roomy()
                && (provisioner.lastReadySegment() > geometry.segmentOf(tail) + 1 || provisioner.logStarved());
    }
}
