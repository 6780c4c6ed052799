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
 */
final class CommitQueue {
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

    /** Adds a callback to the active commit and sees to it that the flusher knows. */
    void add(WriteCallback callback, long sequence) {
        active.add(callback, sequence);
        if (active.count() == 1) {
            active.startedAt(clock.getAsLong());
            wakeFlusher.run();
        }
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
        return !active.isEmpty() || forceWanted;
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
        if (!sealed.frame().isEmpty()) {
            tail = geometry.positionAfter(sealed.frame().endLsn());
            // A segment that is full to its last byte is left here, not when the next frame is placed: nobody may place
            // one before the segments behind the tail are ready.
            provisioner.enteredSegment(geometry.segmentOf(tail));
            lastSealedLsn = sealed.frame().baseLsn();
            // The frame may have filled its segment: the next one is in use from now on, with as much ready behind it.
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
