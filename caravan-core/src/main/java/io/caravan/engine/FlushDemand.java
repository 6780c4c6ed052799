package io.caravan.engine;

import io.caravan.ListStore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * When the flusher shall take the active commit: at once when somebody waits for it, otherwise when the writes that
 * belong together have come.
 *
 * <p>While a group of writes is open ({@link ListStore#group()}), the flusher is not woken for the first of them, but
 * when the group ends or has gathered enough. Groups are counted, not known: with several open, the end of any one may
 * start the flush, and none is waited for that was opened after the commit's first write. A commit waits
 * {@link #GROUP_WAIT_NANOS} at most; then the groups that were open are given up and count no more.
 *
 * <p>Guarded by the store's lock, but for what says otherwise.
 */
final class FlushDemand {
    /** What a group may gather at most: forcing that much hardly takes the disk longer than forcing one block. */
    private static final int GATHERED_BYTES = 64 * 1024;

    private static final long GROUP_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final StoreState state;
    private final LongSupplier clock;
    private final Runnable wakeFlusher;
    private Commit active;

    private volatile boolean urgent;
    private boolean forceWanted;
    /** Whether the flusher was woken for the active commit. */
    private boolean flusherKnows;
    /** Whether the flusher looks again soon, although nobody wakes it. */
    private boolean flusherLooks;

    /** Groups opened and closed so far; those given up count as closed. */
    private long openedGroups;

    private long closedGroups;
    /** The active commit waits until so many groups are closed. */
    private long awaitedGroups;
    /** How many groups had been opened when the flusher last had nothing to do. */
    private long groupsAtRest;
    /** How many groups had been opened when they were last given up. */
    private long groupsGivenUp;

    FlushDemand(StoreState state, Commit active, Runnable wakeFlusher, LongSupplier clock) {
        this.state = state;
        this.active = active;
        this.wakeFlusher = wakeFlusher;
        this.clock = clock;
    }

    /** A callback was added to the active commit: sees to it that the flusher knows as soon as it may flush. */
    void added() {
        if (active.count() == 1) {
            active.startedAt(clock.getAsLong());
            awaitedGroups = openedGroups;
            if (gathering() && !flusherLooks) {
                flusherLooks = true;
                wakeFlusher.run();
            }
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
        return closedGroups < awaitedGroups && active.frame().payloadBytes() < GATHERED_BYTES && !urgent;
    }

    /** Opens a group; takes the lock itself, as does closing it. */
    ListStore.Group openGroup() {
        return state.locked(() -> new OpenGroup(++openedGroups));
    }

    private final class OpenGroup implements ListStore.Group {
        private final long number;
        private boolean closed;

        OpenGroup(long number) {
            this.number = number;
        }

        @Override
        public void close() {
            state.lock.lock();
            try {
                if (!closed && number > groupsGivenUp) {
                    closedGroups++;
                    wakeWhenReady();
                }
                closed = true;
            } finally {
                state.lock.unlock();
            }
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

    /** Whether the next flush shall not wait; may be asked without the lock. */
    boolean urgent() {
        return urgent;
    }

    /** Whether the flusher has something to flush now. Gives groups up that have been waited for long enough. */
    boolean hasWork() {
        if (!active.isEmpty() && gathering() && groupWaitNanos() <= 0) {
            closedGroups = openedGroups;
            groupsGivenUp = openedGroups;
        }
        return forceWanted || !active.isEmpty() && !gathering();
    }

    /** How much longer the active commit waits for groups; not at all when the clock has gone back. */
    private long groupWaitNanos() {
        long waitedNanos = clock.getAsLong() - active.firstNanos();
        return waitedNanos < 0 ? 0 : GROUP_WAIT_NANOS - waitedNanos;
    }

    /**
     * How long the flusher may rest that has nothing to do. As long as groups come, it looks again by itself, so that
     * their first writes need not wake it.
     */
    long restNanos() {
        flusherLooks = !active.isEmpty() || openedGroups != groupsAtRest;
        groupsAtRest = openedGroups;
        if (!flusherLooks) {
            return Worker.UNTIL_WOKEN;
        }
        return active.isEmpty() ? GROUP_WAIT_NANOS : Math.max(1, groupWaitNanos());
    }

    /** Takes the force that was asked for. */
    boolean takeForceWanted() {
        boolean wanted = forceWanted;
        forceWanted = false;
        return wanted;
    }

    /** The active commit was sealed, and this one has taken its place. */
    void sealed(Commit next) {
        active = next;
        urgent = false;
        flusherKnows = false;
    }
}
