package io.caravan.engine;

import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteCallback;
import io.caravan.format.FrameLayout;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Two commits that take turns: writers fill the active one under the store's lock while the flusher works on the other.
 *
 * <p>The active frame gets its place in the log just before its first record: behind the frame before it, or at the
 * start of the next segment when the record would not fit. An append needs one more ready segment behind the frame's:
 * that one is the reserve with which trims and deletes go on when the disk is full.
 *
 * <p>While a group of writes is open ({@link io.caravan.ListStore#beginGroup}) the flusher is not woken for the first of
 * them, but when the group ends or has gathered enough. It counts groups, and does not know them: with several open, the
 * end of any one may start the flush, and none waits for a group that was begun after the commit's first write.
 */
final class CommitQueue {
    /** What a group may gather at most: to force that much takes the disk hardly longer than to force one block. */
    private static final int GATHERED_BYTES = 64 * 1024;

    private final StoreState state;
    private final Provisioner provisioner;
    private final LogGeometry geometry;
    private final LongSupplier clock;
    private final List<Runnable> writableActions = new ArrayList<>();

    private Commit active;
    private Commit spare;
    private Runnable wakeFlusher = () -> {};
    private volatile boolean urgent;
    private boolean forceWanted;
    /** Whether the flusher was woken for the active commit. */
    private boolean flusherKnows;
    /** Groups of writes that were begun and ended, ever. */
    private long begunGroups;

    private long endedGroups;
    /** The active commit waits until so many groups have ended. */
    private long awaitedGroups;

    private long tail;
    private long lastSealedLsn;

    CommitQueue(
            StoreState state,
            Provisioner provisioner,
            LogGeometry geometry,
            int bufferBytes,
            LogScanner.End end,
            LongSupplier clock) {
        this.state = state;
        this.provisioner = provisioner;
        this.geometry = geometry;
        this.clock = clock;
        this.active = new Commit(bufferBytes);
        this.spare = new Commit(bufferBytes);
        this.tail = end.position();
        this.lastSealedLsn = end.previousLsn();
    }

    void onWork(Runnable wake) {
        wakeFlusher = wake;
    }

    /** The most that the records of one write may take together. */
    int maxRecordBytes() {
        return Math.min(
                active.frame().capacityBytes(),
                geometry.segmentBytes() - geometry.offsetOf(geometry.firstFrame(0)) - FrameLayout.HEADER_BYTES);
    }

    // The rest is called under the store's lock.

    /**
     * The active commit, with room for records of so many bytes; waits until there is.
     *
     * @param releases whether the write gives space back, and so may use the reserve
     */
    Commit makeRoom(int bytes, boolean releases) {
        state.checkWritable();
        while (!admits(bytes, releases)) {
            if (!active.frame().isEmpty() || active.full()) {
                requireFlush();
                awaitChange();
            } else if (!place(bytes, releases)) {
                awaitChange();
            }
        }
        return active;
    }

    private boolean admits(int bytes, boolean releases) {
        return !active.full()
                && active.frame().fits(bytes)
                && (releases || provisioner.lastReadySegment() > active.segment());
    }

    private boolean place(int bytes, boolean releases) {
        long lsn = tail;
        if (bytes + FrameLayout.HEADER_BYTES > geometry.remaining(lsn)) {
            lsn = geometry.firstFrame(geometry.segmentOf(lsn) + 1);
        }
        long segment = geometry.segmentOf(lsn);
        if (provisioner.lastReadySegment() < (releases ? segment : segment + 1)) {
            if (provisioner.logStarved()) {
                throw new OutOfSpaceException(state.name() + " cannot make its next log segment: "
                        + provisioner.starvedBecause() + "; free disk space, appends resume by themselves");
            }
            provisioner.wake();
            return false;
        }
        active.frame().place(lsn, geometry);
        active.placedIn(segment);
        provisioner.enteredSegment(segment);
        return true;
    }

    /** Waits for room, space, failure or closing, and checks that writing still makes sense. */
    void awaitChange() {
        if (WorkerThread.onStoreThread()) {
            throw new NotWritableException(state.name());
        }
        state.awaitChange();
        state.checkWritable();
    }

    /** Adds a callback to the active commit and sees to it that the flusher knows, as soon as it may flush. */
    void add(WriteCallback callback, long sequence) {
        active.add(callback, sequence);
        if (active.count() == 1) {
            active.startedAt(clock.getAsLong());
            awaitedGroups = begunGroups;
        }
        wakeWhenReady();
    }

    private void wakeWhenReady() {
        if (!flusherKnows && !active.isEmpty() && !gathering()) {
            flusherKnows = true;
            wakeFlusher.run();
        }
    }

    /** Whether a group that was open when the active commit got its first write may still add to it. */
    private boolean gathering() {
        return endedGroups < awaitedGroups && active.frame().payloadBytes() < GATHERED_BYTES && !urgent;
    }

    /** See {@link io.caravan.ListStore#beginGroup()}. */
    void beginGroup() {
        begunGroups++;
    }

    /** See {@link io.caravan.ListStore#endGroup()}. */
    void endGroup() {
        endedGroups++;
        wakeWhenReady();
    }

    /** Makes the next flush start without waiting for company. */
    void requireFlush() {
        urgent = true;
        wakeFlusher.run();
    }

    /** Makes the next flush force the log whatever the durability level. */
    void requireForce() {
        forceWanted = true;
        requireFlush();
    }

    Commit active() {
        return active;
    }

    /** Whether the next flush shall not wait; may be asked without the lock. */
    boolean urgent() {
        return urgent;
    }

    boolean hasWork() {
        return forceWanted || !active.isEmpty() && !gathering();
    }

    /** Takes the force that was asked for. */
    boolean takeForceWanted() {
        boolean wanted = forceWanted;
        forceWanted = false;
        return wanted;
    }

    /** Hands the active commit to the flusher, which must give it back with {@link #release}. */
    Commit seal() {
        Commit sealed = active;
        active = spare;
        spare = sealed;
        urgent = false;
        flusherKnows = false;
        if (!sealed.frame().isEmpty()) {
            tail = geometry.positionAfter(sealed.frame().endLsn());
            lastSealedLsn = sealed.frame().baseLsn();
            // A segment that is full to its last byte is left here, not when the next frame is placed: nobody may place
            // one before the segments behind the tail are ready.
            provisioner.enteredSegment(geometry.segmentOf(tail));
        }
        state.changed.signalAll();
        return sealed;
    }

    void release(Commit commit) {
        commit.clear();
        state.changed.signalAll();
    }

    /** Every record so far lies before this, every later one at or behind it. */
    long nextLsn() {
        return active.frame().isEmpty() ? tail : active.frame().endLsn();
    }

    /** Where the frames sealed so far end. */
    long tail() {
        return tail;
    }

    /** Where a replay of everything that is not sealed yet has to start. */
    long replayStart() {
        return active.frame().isEmpty() ? tail : active.frame().baseLsn();
    }

    long lastSealedLsn() {
        return lastSealedLsn;
    }

    /** Whether a write would most likely find room in the log, or be refused, but not wait. */
    boolean writable() {
        boolean provisioned = provisioner.lastReadySegment() > geometry.segmentOf(tail) + 1 || provisioner.logStarved();
        return active.roomy() && provisioned;
    }

    void whenWritable(Runnable action) {
        writableActions.add(action);
    }

    /** Takes the actions that wait for writability. */
    List<Runnable> takeWritableActions() {
        if (writableActions.isEmpty()) {
            return List.of();
        }
        List<Runnable> actions = List.copyOf(writableActions);
        writableActions.clear();
        return actions;
    }
}
