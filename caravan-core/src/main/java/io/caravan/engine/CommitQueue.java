package io.caravan.engine;

import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.format.FrameLayout;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Manages two commits that alternate: writers fill the active commit under the store's lock while a flush writes the
 * other commit. A flush begins by replacing the active commit with the spare commit, so a second flush cannot begin
 * until the first flush ends.
 *
 * <p>The queue tracks the tail of the log. A frame is placed just before its first record is added: after the previous
 * frame, or at the start of the next segment if the record would not fit. An append also requires a ready segment after
 * the segment of its frame. This segment is the reserve in which trims and deletes continue when the disk is full.
 * Appends may use only the front of the reserve. After the front, batches that delete an existing list and append may
 * add a limited number of bytes to the segment. Once the log has entered the reserve, checkpoints can free the
 * preceding segment.
 *
 * <p>The queue decides when the active commit is flushed: at once if a caller is waiting for the flush, otherwise when
 * the open write groups have added their writes; see docs/internals/write-path.md. A commit waits for groups for at
 * most {@link #GROUP_WAIT_NANOS}. Then all open groups are abandoned: they no longer count.
 *
 * <p>Called under the store's lock, except where a method says otherwise.
 */
final class CommitQueue {
    /**
     * The size, in bytes, at which a commit no longer waits for groups. An fsync of this many bytes takes hardly longer
     * than an fsync of one block.
     */
    private static final int GATHERED_BYTES = 64 * 1024;

    /**
     * The maximum size of a commit that a writer flushes itself. Instead of performing a larger flush, the writer can
     * fill the next commit.
     */
    private static final int FLUSHED_HERE_BYTES = 16 * 1024;

    private static final long GROUP_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The urgency of flushing the active commit. It never falls before the commit is sealed. */
    private enum Stage {
        /**
         * No flush: the commit is empty, or collects the writes of open groups until the flusher abandons the groups.
         */
        GATHERS,
        /** Flush when the policy's delay is over. The flusher has been woken. */
        READY,
        /** Flush without delay. */
        URGENT,
        /** Flush without delay, even an empty commit, and fsync the log at any durability level. */
        FORCE
    }

    private final StoreState state;
    private final Provisioner provisioner;
    private final LogGeometry geometry;

    private Commit active;
    /** The commit that replaces the active commit when a flush begins. Null while a flush is in progress. */
    private @Nullable Commit spare;
    /** Position after the last sealed frame. */
    private long tail;

    private long lastSealedLsn;
    /** The last segment after whose front writes with {@link Reserve#DELETIONS} were added, and their total size. */
    private long reserveSegment;

    private int reserveBytes;

    private volatile Stage stage = Stage.GATHERS;

    /** Number of open groups, excluding abandoned groups. */
    private int openGroups;
    /** Number of groups that must still close before the active commit is flushed. The close of any group counts. */
    private int awaitedGroups;
    /** Number of times that the open groups were abandoned. Groups of earlier generations no longer count. */
    private long generation;
    /** Whether a group has been opened since the flusher was last idle. */
    private boolean groupsCome;
    /** Whether the flusher will check for work again soon without being woken. */
    private boolean flusherChecks;

    /**
     * Creates the queue of a recovered store.
     *
     * @param bytesAfterFront the maximum total size of the appends after the front of the segment with the last frame.
     *     If no later segment is ready, they were writes with {@link Reserve#DELETIONS}
     */
    CommitQueue(StoreState state, Provisioner provisioner, LogScanner.End end, int bytesAfterFront) {
        this.state = state;
        this.provisioner = provisioner;
        this.geometry = state.geometry;
        this.active = new Commit(state.config.logBufferBytes());
        this.spare = new Commit(state.config.logBufferBytes());
        this.tail = end.position();
        this.lastSealedLsn = end.last().lsn();
        this.reserveSegment = geometry.segmentOf(lastSealedLsn);
        this.reserveBytes = bytesAfterFront;
    }

    /**
     * Returns the maximum total size of the records of one write, which must fit in a buffer and in a segment. May be
     * called without the lock.
     */
    int maxRecordBytes() {
        int segmentBytes = geometry.remaining(geometry.firstFrame(0));
        return Math.min(state.config.logBufferBytes(), segmentBytes) - FrameLayout.HEADER_BYTES;
    }

    /**
     * Waits until the active commit has space for records of this size, and returns the commit. If the write is then
     * not rejected, the caller adds the records to the commit's frame, and calls {@link #add}.
     *
     * @param reserve the reserved space that the write may use
     * @param mayWait whether the caller may wait for space
     * @throws NotWritableException if the commit lacks the space and the caller may not wait
     * @throws OutOfSpaceException if the disk has no space for the next log segment
     */
    Commit makeRoom(int bytes, Reserve reserve, boolean mayWait) {
        state.checkWritable();
        state.checkLeads();
        while (!admits(bytes, reserve)) {
            if (!active.frame().isEmpty() || active.full()) {
                requireFlush();
                state.awaitRoom(mayWait);
            } else {
                boolean fits = bytes + FrameLayout.HEADER_BYTES <= geometry.remaining(tail);
                if (!place(fits ? tail : nextSegment(), bytes, reserve)) {
                    state.awaitRoom(mayWait);
                }
            }
        }
        return active;
    }

    private boolean admits(int bytes, Reserve reserve) {
        return !active.full()
                && active.frame().fits(bytes)
                && mayLieAt(active.frame().baseLsn(), bytes, reserve);
    }

    /** Whether a write may be in a frame at this LSN: it needs no reserve there, or may use the reserve. */
    private boolean mayLieAt(long lsn, int bytes, Reserve reserve) {
        return reserve == Reserve.ALL
                || !needsReserve(lsn)
                || reserve == Reserve.DELETIONS && usedAfterFront(lsn) + bytes <= deletionBytes(geometry);
    }

    /** Whether appends need a reserve at this LSN: no later segment is ready, and the front ends before the LSN. */
    private boolean needsReserve(long lsn) {
        return provisioner.lastReadySegment() <= geometry.segmentOf(lsn) && !geometry.isInFront(lsn);
    }

    private int usedAfterFront(long lsn) {
        return geometry.segmentOf(lsn) == reserveSegment ? reserveBytes : 0;
    }

    /** Returns the total size of the records that {@link Reserve#DELETIONS} allows after the front of a segment. */
    static int deletionBytes(LogGeometry geometry) {
        return geometry.frontBytes();
    }

    /** Waits until the active commit has no records. */
    void awaitEmpty() {
        while (!active.frame().isEmpty()) {
            requireFlush();
            state.awaitRoom(true);
        }
    }

    /**
     * Waits until the segment of a leader's frame is ready, and places the frame at the LSN that it had on the leader.
     * Returns the commit to fill. After a wait, a different commit may be active than at the call, because a flush
     * takes even an empty commit.
     */
    Commit placeAt(long lsn) {
        while (!place(lsn, 0, Reserve.ALL)) {
            state.awaitRoom(true);
        }
        return active;
    }

    /** Places the active commit's empty frame at this LSN. Returns false if the required segments are not ready yet. */
    private boolean place(long lsn, int bytes, Reserve reserve) {
        long segment = geometry.segmentOf(lsn);
        if (provisioner.lastReadySegment() < segment || !mayLieAt(lsn, bytes, reserve)) {
            if (provisioner.isLogOutOfSpace()) {
                throw new OutOfSpaceException(state.name() + " cannot make its next log segment: "
                        + provisioner.logProblem() + "; " + Provisioner.advice(provisioner.logProblem())
                        + "; appends resume by themselves");
            }
            provisioner.wake();
            return false;
        }
        active.frame().place(lsn, geometry);
        provisioner.enteredSegment(segment);
        return true;
    }

    /**
     * Adds the callback of a write to the active commit, and wakes the flusher if it may now flush.
     *
     * @param terms requests the durability and the flush delay
     */
    void add(WriteCallback callback, long sequence, WriteBatch terms) {
        active.add(callback, sequence);
        active.require(terms.durability());
        if (active.count() == 1) {
            active.startedAt(state.nowNanos());
            awaitedGroups = openGroups;
            if (gathering() && !flusherChecks) {
                flusherChecks = true;
                wakeFlusher();
            }
        }
        if (active.waitAtMost(terms.flushDelayNanos()) && stage != Stage.GATHERS) {
            // The flusher may be sleeping until a later time.
            wakeFlusher();
        }
        wakeWhenReady();
    }

    /**
     * Counts records that were just added, if they use the reserve: those of a write with {@link Reserve#DELETIONS}, or
     * an append that a follower replays.
     */
    void countInReserve(int bytes) {
        long lsn = active.frame().baseLsn();
        if (needsReserve(lsn)) {
            reserveBytes = usedAfterFront(lsn) + bytes;
            reserveSegment = geometry.segmentOf(lsn);
        }
    }

    /** Starts a flush that calls the callback once all records so far are durable. */
    void flush(WriteCallback callback) {
        add(callback, 0, Commit.USUAL_TERMS);
        requireFlush();
    }

    private void wakeWhenReady() {
        if (stage == Stage.GATHERS && !active.isEmpty() && !gathering()) {
            raise(Stage.READY);
        }
    }

    private void raise(Stage to) {
        if (stage.compareTo(to) < 0) {
            stage = to;
        }
        wakeFlusher();
    }

    private void wakeFlusher() {
        state.wakes.flusher().run();
    }

    /** Whether a group that was open when the active commit got its first write may still add writes to that commit. */
    private boolean gathering() {
        return stage == Stage.GATHERS && awaitedGroups > 0 && active.frame().payloadBytes() < GATHERED_BYTES;
    }

    /** Opens a group. Returns its generation, to be passed to {@link #closeGroup}. */
    long openGroup() {
        openGroups++;
        groupsCome = true;
        return generation;
    }

    /**
     * Closes a group of this generation, unless it was abandoned before.
     *
     * @param mayFlush whether the caller could perform the flush itself
     * @return whether the caller must flush: the commit is small and no other thread writes, that is, no other group is
     *     open and the flusher was not woken
     */
    boolean closeGroup(long opened, boolean mayFlush) {
        if (opened != generation) {
            return false;
        }
        openGroups--;
        awaitedGroups = Math.max(0, awaitedGroups - 1);
        boolean alone = openGroups == 0 && stage == Stage.GATHERS;
        if (mayFlush && alone && !active.isEmpty() && active.frame().payloadBytes() <= FLUSHED_HERE_BYTES) {
            return true;
        }
        wakeWhenReady();
        return false;
    }

    /** Starts the flush of a nonempty active commit without waiting for more writes. */
    void requireFlush() {
        if (!active.isEmpty()) {
            raise(Stage.URGENT);
        }
    }

    /** Starts the flush of the record at this LSN without waiting for more writes, unless that flush has begun. */
    void requireFlushOf(long lsn) {
        if (lsn >= tail && !urgent()) {
            requireFlush();
        }
    }

    /** Starts the next flush immediately. This flush fsyncs the log at any durability level. */
    void requireForce() {
        raise(Stage.FORCE);
    }

    /** Whether the next flush must not be delayed. May be called without the lock. */
    boolean urgent() {
        return stage.compareTo(Stage.URGENT) >= 0;
    }

    Commit active() {
        return active;
    }

    boolean flushing() {
        return spare == null;
    }

    /**
     * Whether the active commit should be flushed now and no flush is in progress. Abandons the open groups if the
     * commit has waited for them long enough.
     */
    boolean hasWork() {
        if (flushing()) {
            return false;
        }
        if (!active.isEmpty() && gathering() && groupWaitNanos() <= 0) {
            generation++;
            openGroups = 0;
            awaitedGroups = 0;
        }
        return stage == Stage.FORCE || !active.isEmpty() && !gathering();
    }

    /** Returns the remaining time for which the active commit waits for groups; 0 if the clock has gone backward. */
    private long groupWaitNanos() {
        long waitedNanos = state.nowNanos() - active.firstNanos();
        return waitedNanos < 0 ? 0 : GROUP_WAIT_NANOS - waitedNanos;
    }

    /**
     * Returns the time for which an idle flusher may sleep. While groups keep being opened, the flusher wakes up
     * periodically, so the first write of a group need not wake it. The end of a flush in progress wakes the flusher if
     * the active commit no longer waits for groups.
     */
    long restNanos() {
        long nanos = Worker.UNTIL_WOKEN;
        if (!active.isEmpty() && gathering()) {
            long waitNanos = groupWaitNanos();
            nanos = waitNanos > 0 ? waitNanos : flushing() ? Worker.UNTIL_WOKEN : 1;
        } else if (active.isEmpty() && groupsCome) {
            nanos = GROUP_WAIT_NANOS;
        }
        flusherChecks = nanos != Worker.UNTIL_WOKEN;
        groupsCome = false;
        return nanos;
    }

    /** Begins a flush if {@link #hasWork}. Returns the commit to flush. */
    @Nullable
    Commit beginFlush() {
        Commit next = spare;
        if (next == null || !hasWork()) {
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
        sealed.sealed(tail, stage == Stage.FORCE);
        awaitedGroups = 0;
        stage = Stage.GATHERS;
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
            wakeFlusher();
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
        long next = position();
        long readyAfter = provisioner.lastReadySegment() - geometry.segmentOf(next);
        boolean fits = maxRecordBytes() + FrameLayout.HEADER_BYTES <= geometry.remaining(next);
        return active.roomy() && (readyAfter > 1 || readyAfter == 1 && fits || provisioner.isLogOutOfSpace());
    }
}
