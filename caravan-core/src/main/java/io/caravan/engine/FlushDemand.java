package io.caravan.engine;

import io.caravan.WriteBatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides when the active commit is flushed, one flush at a time: at once when a caller waits for it, otherwise when the
 * writes that belong together have come.
 *
 * <p>While a group of writes is open ({@link io.caravan.ListStore#group()}), the flusher is not woken for the first of them,
 * but when the group ends or has gathered enough. Groups are counted, not identified: with several open, the end of any
 * one may start the flush, and a commit waits for no group that was opened after its first write. A commit waits
 * {@link #GROUP_WAIT_NANOS} at most. Then all open groups are given up, and no longer count.
 *
 * <p>A flush is begun and ended under the store's lock, which guards everything here except where a method says otherwise.
 */
final class FlushDemand {
    /** What a group may gather at most: forcing that much hardly takes the disk longer than forcing one block. */
    private static final int GATHERED_BYTES = 64 * 1024;

    /** What a writer flushes itself at most: while it writes more, it could have gathered the next commit. */
    private static final int FLUSHED_HERE_BYTES = 16 * 1024;

    private static final long GROUP_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final StoreState state;
    private final LongSupplier clock;
    private final Runnable wakeFlusher;
    private Commit active;

    private volatile boolean urgent;
    /** Whether a flush is under way, on the flusher's thread or on a writer's. Only its owner ends it. */
    private boolean flushing;

    private boolean forceWanted;
    /** Whether the flusher was woken for the active commit. */
    private boolean flusherKnows;
    /** Whether the flusher looks again soon, although no thread wakes it. */
    private boolean flusherLooks;

    /** Number of open groups, without those given up. */
    private int openGroups;
    /** Number of groups that must still close before the active commit is flushed. Any group counts. */
    private int awaitedGroups;
    /** Number of times that the open groups were given up. A group of an earlier generation no longer counts. */
    private long generation;
    /** Whether a group was opened since the flusher last had nothing to do. */
    private boolean groupsCome;

    FlushDemand(StoreState state, Commit active, Runnable wakeFlusher, LongSupplier clock) {
        this.state = state;
        this.active = active;
        this.wakeFlusher = wakeFlusher;
        this.clock = clock;
    }

    /**
     * A callback was added to the active commit: sees to it that the flusher knows as soon as it may flush.
     *
     * @param delayNanos how long its write may wait, or {@link WriteBatch#BY_POLICY}
     */
    void added(long delayNanos) {
        if (active.count() == 1) {
            active.startedAt(clock.getAsLong());
            awaitedGroups = openGroups;
            if (gathering() && !flusherLooks) {
                flusherLooks = true;
                wakeFlusher.run();
            }
        }
        if (waitsLess(delayNanos) && flusherKnows) {
            wakeFlusher.run();
        }
        wakeWhenReady();
    }

    /** Whether this write moves the commit's flush forward, for which the flusher may be waiting. */
    private boolean waitsLess(long delayNanos) {
        return delayNanos == WriteBatch.BY_POLICY ? active.waitByPolicy() : active.waitAtMost(delayNanos);
    }

    /** Wakes the flusher, unless it knows, if nothing more is waited for. */
    private void wakeWhenReady() {
        if (!flusherKnows && !active.isEmpty() && !gathering()) {
            flusherKnows = true;
            wakeFlusher.run();
        }
    }

    /** Whether a group that was open when the active commit got its first write may still add to it. */
    private boolean gathering() {
        return awaitedGroups > 0 && active.frame().payloadBytes() < GATHERED_BYTES && !urgent;
    }

    /** Opens a group. Returns its generation, which closes it. */
    long openGroup() {
        openGroups++;
        groupsCome = true;
        return generation;
    }

    /** Closes a group of this generation. */
    void closeGroup(long opened) {
        if (uncount(opened)) {
            wakeWhenReady();
        }
    }

    /**
     * Closes a group of this generation. Begins a flush, which is the caller's, if the commit is small and no other thread
     * writes: no other group is open, and the flusher was not woken. Returns whether it has.
     */
    boolean closeGroupAndBegin(long opened) {
        if (!uncount(opened)) {
            return false;
        }
        boolean alone = openGroups == 0 && !flusherKnows && !urgent;
        if (alone && active.frame().payloadBytes() <= FLUSHED_HERE_BYTES && beginFlush()) {
            return true;
        }
        wakeWhenReady();
        return false;
    }

    /** Stops counting a group. Returns false, and changes nothing, if the group was given up before. */
    private boolean uncount(long opened) {
        if (opened != generation) {
            return false;
        }
        openGroups--;
        awaitedGroups = Math.max(0, awaitedGroups - 1);
        return true;
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

    /**
     * Whether there is something to flush now, and nobody is at it. Gives groups up that have been waited for long enough.
     */
    boolean hasWork() {
        if (flushing) {
            return false;
        }
        if (!active.isEmpty() && gathering() && groupWaitNanos() <= 0) {
            generation++;
            openGroups = 0;
            awaitedGroups = 0;
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
        flusherLooks = !active.isEmpty() || groupsCome;
        groupsCome = false;
        if (!flusherLooks) {
            return Worker.UNTIL_WOKEN;
        }
        return active.isEmpty() ? GROUP_WAIT_NANOS : Math.max(1, groupWaitNanos());
    }

    /**
     * Begins a flush, which the caller must {@linkplain #endFlush() end}, if there is something to flush now and no other
     * flush is under way. A caller that gets {@code false} changes nothing: the flush under way belongs to another.
     */
    boolean beginFlush() {
        if (!hasWork()) {
            return false;
        }
        flushing = true;
        return true;
    }

    /**
     * Ends the flush that the caller has begun. Wakes the flusher if there is something to flush again: what was added
     * since the commit was sealed, and what the flusher left alone because of this flush.
     */
    void endFlush() {
        if (!flushing) {
            throw new IllegalStateException("no flush is under way that could end");
        }
        flushing = false;
        state.changed.signalAll();
        if (hasWork()) {
            wakeFlusher.run();
        }
    }

    /** Whether a flush is under way. */
    boolean flushing() {
        return flushing;
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
        awaitedGroups = 0;
        urgent = false;
        flusherKnows = false;
    }
}
