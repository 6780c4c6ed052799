package io.caravan.engine;

import io.caravan.NotWritableException;
import io.caravan.WriteCallback;
import org.jspecify.annotations.Nullable;

/**
 * Two commits that take turns: writers fill the active one under the store's lock while the flusher works on the other.
 * {@link LogTail} says where a commit's frame goes, just before its first record; {@link FlushDemand} says when the
 * flusher takes it.
 */
final class CommitQueue {
    private final StoreState state;
    private final LogTail tail;
    private final FlushDemand demand;

    private Commit active;
    /** Takes the active commit's place when that is sealed. There is none while a flush has a commit in flight. */
    private @Nullable Commit spare;

    CommitQueue(StoreState state, FlushDemand demand, LogTail tail, Commit active, Commit spare) {
        this.state = state;
        this.demand = demand;
        this.tail = tail;
        this.active = active;
        this.spare = spare;
    }

    /** The most that the records of one write may take together. */
    int maxRecordBytes() {
        return tail.maxRecordBytes(active);
    }

    // The rest is called under the store's lock.

    /**
     * The active commit, with room for records of so many bytes; waits until there is.
     *
     * @param releases whether the write gives space back, and so may use the reserve
     * @param mayWait whether the caller may wait for room
     * @throws NotWritableException when there is no room, and the caller may not wait for it
     */
    Commit makeRoom(int bytes, boolean releases, boolean mayWait) {
        state.checkWritable();
        state.checkLeads();
        while (!admits(bytes, releases)) {
            if (!active.frame().isEmpty() || active.full()) {
                demand.requireFlush();
                state.awaitRoom(mayWait);
            } else if (!tail.place(active, bytes, releases)) {
                state.awaitRoom(mayWait);
            }
        }
        return active;
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
     * it: while it waits the flusher may have taken the one that was active, though it was empty.
     */
    Commit placeAt(long lsn) {
        while (!tail.placeAt(active, lsn, true)) {
            state.awaitRoom(true);
        }
        return active;
    }

    private boolean admits(int bytes, boolean releases) {
        return !active.full() && active.frame().fits(bytes) && tail.admits(active, releases);
    }

    /** Adds the callback of a write to the active commit. */
    void add(WriteCallback callback, long sequence, Commit.Terms terms) {
        active.add(callback, sequence);
        active.require(terms.level());
        demand.added(terms.flushDelayNanos());
    }

    /** Makes the flush of the record at this LSN start without waiting for company, unless the flusher has taken it. */
    void requireFlushOf(long lsn) {
        if (lsn >= tail.position() && !demand.urgent()) {
            demand.requireFlush();
        }
    }

    Commit active() {
        return active;
    }

    /**
     * Hands the active commit to a flush, which must give it back with {@link #release}. A second flush while a commit is in
     * flight would let its writes be filled into a frame that is being written, so the store fails instead.
     */
    Commit seal() {
        Commit next = spare;
        if (next == null) {
            throw state.fail(new IllegalStateException("a flush began while another had a commit in flight"));
        }
        Commit sealed = active;
        active = next;
        spare = null;
        demand.sealed(active);
        if (!sealed.frame().isEmpty()) {
            tail.sealed(sealed.frame());
        }
        state.changed.signalAll();
        return sealed;
    }

    /** Takes a sealed commit back, whose writes have been answered. */
    void release(Commit commit) {
        commit.clear();
        spare = commit;
        state.changed.signalAll();
    }

    /** Every record so far lies before this, every later one at or behind it. */
    long nextLsn() {
        return active.frame().isEmpty() ? tail.position() : active.frame().endLsn();
    }

    /** Where the frames sealed so far end. */
    long tail() {
        return tail.position();
    }

    /** Where a frame goes that leaves the rest of the last one's segment unused. */
    long nextSegment() {
        return tail.nextSegment();
    }

    /** Where the frame behind the active one goes. */
    long position() {
        return active.frame().isEmpty() ? tail.position() : tail.positionBehind(active.frame());
    }

    /** Where a replay of everything that is not sealed yet has to start. */
    long replayStart() {
        return active.frame().isEmpty() ? tail.position() : active.frame().baseLsn();
    }

    /** LSN of the last frame that was sealed. */
    long lastSealedLsn() {
        return tail.lastSealedLsn();
    }

    /** Whether a write would most likely find room in the log, or be refused, but not wait. */
    boolean writable() {
        return active.roomy() && tail.writable();
    }
}
