package io.caravan.engine;

import io.caravan.WriteBatch;
import java.util.concurrent.TimeUnit;

/**
 * Decides when the active commit is flushed: at once when a caller waits for it, otherwise when the writes that belong
 * together have come. Everything here is called under the store's lock, except where a method says otherwise.
 *
 * <p>While a group of writes is open ({@link io.caravan.ListStore#group()}), the flusher is not woken for the first of them,
 * but when the group ends or has gathered enough. Groups are counted, not identified: with several open, the end of any
 * one may start the flush, and a commit waits for no group that was opened after its first write. A commit waits
 * {@link #GROUP_WAIT_NANOS} at most. Then all open groups are given up, and no longer count.
 */
final class FlushDemand {
    /** What a group may gather at most: forcing that much hardly takes the disk longer than forcing one block. */
    private static final int GATHERED_BYTES = 64 * 1024;

    /** What a writer flushes itself at most: while it writes more, it could have gathered the next commit. */
    private static final int FLUSHED_HERE_BYTES = 16 * 1024;

    private static final long GROUP_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** What the active commit asks of the flusher. It only rises, until the commit is sealed. */
    private enum Stage {
        /** Nothing: the commit is empty, or gathers what open groups add until the flusher gives them up. */
        GATHERS,
        /** To flush it when the policy's delay is over. The flusher was woken for it. */
        READY,
        /** To flush it without delay. */
        URGENT,
        /** To flush without delay, also if the commit is empty, and to force the log whatever the durability level. */
        FORCE
    }

    private final StoreState state;
    private Commit active;
    private volatile Stage stage = Stage.GATHERS;

    /** Number of open groups, without those given up. */
    private int openGroups;
    /** Number of groups that must still close before the active commit is flushed. Any group counts. */
    private int awaitedGroups;
    /** Number of times that the open groups were given up. A group of an earlier generation no longer counts. */
    private long generation;
    /** Whether a group was opened since the flusher last had nothing to do. */
    private boolean groupsCome;
    /** Whether the flusher looks again soon, although no thread wakes it. */
    private boolean flusherLooks;

    FlushDemand(StoreState state, Commit active) {
        this.state = state;
        this.active = active;
    }

    Commit active() {
        return active;
    }

    /**
     * A callback was added to the active commit: sees to it that the flusher knows as soon as it may flush.
     *
     * @param delayNanos how long its write may wait, or {@link WriteBatch#BY_POLICY}
     */
    void added(long delayNanos) {
        if (active.count() == 1) {
            active.startedAt(state.nowNanos());
            awaitedGroups = openGroups;
            if (gathering() && !flusherLooks) {
                flusherLooks = true;
                wakeFlusher();
            }
        }
        boolean sooner = delayNanos == WriteBatch.BY_POLICY ? active.waitByPolicy() : active.waitAtMost(delayNanos);
        if (sooner && stage != Stage.GATHERS) {
            // It may be waiting for the moment that was right so far.
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

    /** Whether a group that was open when the active commit got its first write may still add to it. */
    private boolean gathering() {
        return stage == Stage.GATHERS && awaitedGroups > 0 && active.frame().payloadBytes() < GATHERED_BYTES;
    }

    /** Opens a group. Returns its generation, which closes it. */
    long openGroup() {
        openGroups++;
        groupsCome = true;
        return generation;
    }

    /**
     * Closes a group of this generation, unless it was given up before.
     *
     * @param mayFlush whether the caller could make the flush itself
     * @return whether it is to do so: the commit is small and no other thread writes, as no other group is open and the
     *     flusher was not woken
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

    /** Makes the flush of what the active commit has start without waiting for company. */
    void requireFlush() {
        if (!active.isEmpty()) {
            raise(Stage.URGENT);
        }
    }

    /** Makes the next flush start at once, and force the log whatever the durability level. */
    void requireForce() {
        raise(Stage.FORCE);
    }

    /** Whether the next flush may not wait; may be asked without the lock. */
    boolean urgent() {
        return stage.compareTo(Stage.URGENT) >= 0;
    }

    /** Whether there is something to flush now. Gives groups up that have been waited for long enough. */
    boolean hasWork() {
        if (!active.isEmpty() && gathering() && groupWaitNanos() <= 0) {
            generation++;
            openGroups = 0;
            awaitedGroups = 0;
        }
        return stage == Stage.FORCE || !active.isEmpty() && !gathering();
    }

    /** How much longer the active commit waits for groups; not at all when the clock has gone back. */
    private long groupWaitNanos() {
        long waitedNanos = state.nowNanos() - active.firstNanos();
        return waitedNanos < 0 ? 0 : GROUP_WAIT_NANOS - waitedNanos;
    }

    /**
     * How long the flusher may rest that has nothing to do. As long as groups come, it looks again by itself, so that
     * their first writes need not wake it. The end of a flush that is under way wakes it.
     */
    long restNanos() {
        long nanos = Worker.UNTIL_WOKEN;
        if (!active.isEmpty() && gathering()) {
            nanos = Math.max(1, groupWaitNanos());
        } else if (active.isEmpty() && groupsCome) {
            nanos = GROUP_WAIT_NANOS;
        }
        flusherLooks = nanos != Worker.UNTIL_WOKEN;
        groupsCome = false;
        return nanos;
    }

    /** The active commit is sealed, and this one takes its place. Returns whether a force was asked for. */
    boolean sealed(Commit next) {
        boolean forced = stage == Stage.FORCE;
        active = next;
        awaitedGroups = 0;
        stage = Stage.GATHERS;
        return forced;
    }
}
