package io.caravan.engine;

import io.caravan.WriteBatch;
import java.util.concurrent.TimeUnit;

/**
 * Decides when the active commit is flushed: at once if a caller is waiting for the flush, otherwise when the open
 * write groups have added their writes. Called under the store's lock, except where a method says otherwise.
 *
 * <p>While a write group is open ({@link io.caravan.ListStore#group()}), its first write does not wake the flusher. The
 * flusher is woken when the group closes or the commit is large enough. Groups are counted, not identified: if several
 * are open, closing any of them may start the flush. Groups that are opened after a commit's first write do not delay
 * the flush.
 *
 * <p>A commit waits for groups for at most {@link #GROUP_WAIT_NANOS}. Then all open groups are abandoned: they no
 * longer count.
 */
final class FlushScheduler {
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
    private Commit active;
    private volatile Stage stage = Stage.GATHERS;

    /** Number of open groups, excluding abandoned groups. */
    private int openGroups;
    /** Number of groups that must still close before the active commit is flushed. The close of any group counts. */
    private int awaitedGroups;
    /**
     * Number of times that the open groups were abandoned: the current generation. Groups of earlier generations no
     * longer count.
     */
    private long generation;
    /** Whether a group has been opened since the flusher was last idle. */
    private boolean groupsCome;
    /** Whether the flusher will check for work again soon without being woken. */
    private boolean flusherChecks;

    FlushScheduler(StoreState state, Commit active) {
        this.state = state;
        this.active = active;
    }

    Commit active() {
        return active;
    }

    /**
     * Records that a callback was added to the active commit, and wakes the flusher if it may now flush.
     *
     * @param delayNanos the longest time that the callback's write may wait, or {@link WriteBatch#BY_POLICY}
     */
    void added(long delayNanos) {
        if (active.count() == 1) {
            active.startedAt(state.nowNanos());
            awaitedGroups = openGroups;
            if (gathering() && !flusherChecks) {
                flusherChecks = true;
                wakeFlusher();
            }
        }
        boolean sooner = delayNanos == WriteBatch.BY_POLICY ? active.waitByPolicy() : active.waitAtMost(delayNanos);
        if (sooner && stage != Stage.GATHERS) {
            // The flusher may be sleeping until a later time.
            wakeFlusher();
        }
        wakeWhenReady();
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

    void wakeFlusher() {
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

    /** Starts the next flush immediately. This flush fsyncs the log at any durability level. */
    void requireForce() {
        raise(Stage.FORCE);
    }

    /** Whether the next flush must not be delayed. May be called without the lock. */
    boolean urgent() {
        return stage.compareTo(Stage.URGENT) >= 0;
    }

    /**
     * Whether the active commit should be flushed now. Abandons the open groups if the commit has waited for them long
     * enough.
     */
    boolean hasWork() {
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
     * periodically, so the first write of a group need not wake it.
     *
     * @param flushing whether a flush is in progress; the end of the flush wakes the flusher if the active commit no
     *     longer waits for groups
     */
    long restNanos(boolean flushing) {
        long nanos = Worker.UNTIL_WOKEN;
        if (!active.isEmpty() && gathering()) {
            long waitNanos = groupWaitNanos();
            nanos = waitNanos > 0 ? waitNanos : flushing ? Worker.UNTIL_WOKEN : 1;
        } else if (active.isEmpty() && groupsCome) {
            nanos = GROUP_WAIT_NANOS;
        }
        flusherChecks = nanos != Worker.UNTIL_WOKEN;
        groupsCome = false;
        return nanos;
    }

    /** Replaces the sealed commit with a new active commit. Returns whether an fsync was requested. */
    boolean sealed(Commit next) {
        boolean forced = stage == Stage.FORCE;
        active = next;
        awaitedGroups = 0;
        stage = Stage.GATHERS;
        return forced;
    }
}
