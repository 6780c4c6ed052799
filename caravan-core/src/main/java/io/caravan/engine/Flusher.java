package io.caravan.engine;

import io.caravan.Durability;
import io.caravan.FrameReplicator;
import io.caravan.ListStore;
import io.caravan.StoreFailedException;
import io.caravan.format.FileNames;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogBuffer;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flushes the commits of the queue one by one. It waits as the flush policy requires, and commits the frame to the
 * store's replication group, if any ({@link FrameReplicator}). It writes and fsyncs the frame, acknowledges the writes,
 * and publishes the committed position, for which readers wait. Writers fill the next commit in the meantime.
 *
 * <p>A flush is begun and ended under the store's lock. In between, one thread owns the flush: the flusher's thread, or
 * the thread of a writer that {@linkplain ListStore.WriteGroup#closeAndFlush() flushes itself}. The first failure of a
 * write or fsync is final. The operation is never retried, because the operating system may have dropped the pages that
 * it could not write (Rebello et al., "Can Applications Recover from fsync Failures?", ATC 2020).
 *
 * <p>The flusher also fsyncs the log on request, for example for a checkpoint.
 */
final class Flusher {
    private static final Logger LOG = LoggerFactory.getLogger(Flusher.class);
    /**
     * Maximum number of bytes, written at weaker levels, that a {@code SYNC} store leaves for the next fsync. A writer
     * that waits for that fsync waits until all these bytes are on disk.
     */
    private static final long MAX_UNFORCED_BYTES = 8L << 20;

    /** Maximum number of bytes, written at weaker levels, that a writer's thread fsyncs along with its own write. */
    private static final long MAX_UNFORCED_HERE_BYTES = 64L << 10;

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final WritePath writes;
    private final LogWriter writer;
    private final Durability durability;
    private final FlushDelay delay;
    private final Runnable afterFlush;
    private volatile FrameReplicator commitLog = FrameReplicator.LOCAL;

    Flusher(
            StoreState state,
            CommitQueue queue,
            HeapSpace space,
            WritePath writes,
            LogScanner.End end,
            Runnable afterFlush) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.writes = writes;
        this.writer = new LogWriter(state.log, state.storeId, end);
        this.durability = state.config.durability();
        this.delay = new FlushDelay(
                state.config.flushPolicy(),
                state::nowNanos,
                Runtime.getRuntime().availableProcessors());
        this.afterFlush = afterFlush;
    }

    /** Performs one flush, or reclaims one slice of entries; see {@link Worker.Step}. */
    long step() {
        if (!state.locked(queue::hasWork)) {
            writes.runActions(false);
            return reclaimAndCheckPressure() ? 0 : state.locked(queue::restNanos);
        }
        long delayNanos = delayNanos();
        if (delayNanos > 0) {
            writes.runActions(false);
            if (reclaimAndCheckPressure()) {
                return 0;
            }
            long parkNanos = delay.parkOrSpin(state.nowNanos() + delayNanos, queue::urgent);
            if (parkNanos > 0) {
                return Math.min(parkNanos, delayNanos);
            }
        }
        Commit begun = state.locked(queue::beginFlush);
        if (begun != null) {
            flush(begun);
        }
        return 0;
    }

    /**
     * Performs the flush that this thread has begun. Then runs waiting actions, and reclaims a slice of entries. The
     * flush of a failed store only calls the pending callbacks and actions.
     */
    private void flush(Commit commit) {
        try {
            // The new active commit is still empty, so the store may be writable.
            writes.runActions(false);
            finish(commit);
            writes.runActions(false);
            if (state.failure() == null) {
                if (state.slice(space::reclaimSlice)) {
                    // The flusher reclaims the remaining entries.
                    state.wakes.flusher().run();
                }
                afterFlush.run();
            }
        } catch (RuntimeException | Error broken) {
            try {
                // Fails the store here, because this may be a writer's thread.
                fail(broken);
            } finally {
                commit.complete(state.locked(() -> state.fail(broken)));
            }
            throw broken;
        } finally {
            state.locked(() -> queue.endFlush(commit));
        }
    }

    /** Opens a write group; see {@link ListStore#group()}. */
    ListStore.WriteGroup openGroup() {
        return new OpenGroup(state.locked(queue::openGroup));
    }

    private final class OpenGroup implements ListStore.WriteGroup {
        private final long generation;
        private boolean closed;

        OpenGroup(long generation) {
            this.generation = generation;
        }

        @Override
        public void close() {
            close(false);
        }

        @Override
        public void closeAndFlush() {
            Commit begun = close(state.scheduler.mayTouchFiles());
            if (begun != null) {
                state.scheduler.doInstead(() -> flush(begun));
            }
        }

        /** Closes the group. If this begins a flush, returns the commit that the caller must then flush. */
        private @Nullable Commit close(boolean mayFlush) {
            state.lock.lock();
            try {
                if (closed) {
                    return null;
                }
                closed = true;
                return queue.closeGroup(generation, mayFlush && flushesHere()) ? queue.beginFlush() : null;
            } finally {
                state.lock.unlock();
            }
        }
    }

    /** Whether a writer's thread may flush, which is allowed only if the flush ends soon. Called under the lock. */
    private boolean flushesHere() {
        return !queue.flushing()
                && (durability != Durability.SYNC || queue.tail() - state.forced.position() <= MAX_UNFORCED_HERE_BYTES)
                && state.takesWrites()
                && commitLog == FrameReplicator.LOCAL
                && queue.active().delayNanos(delay) == 0
                && delay.quick();
    }

    /**
     * Waits until no writer thread is flushing. No further flush begins on such a thread, because the store is closing.
     */
    void awaitWriters() {
        state.locked(() -> {
            while (queue.flushing()) {
                state.awaitChange();
            }
        });
    }

    /** Returns the remaining delay of the active commit; 0 if the clock is now behind the commit's first write. */
    private long delayNanos() {
        return state.locked(() -> {
            if (state.failure() != null
                    || queue.urgent()
                    || queue.flushing()
                    || queue.active().count() == 0) {
                return 0L;
            }
            long waitedNanos = state.nowNanos() - queue.active().firstNanos();
            return waitedNanos < 0 ? 0 : queue.active().delayNanos(delay) - waitedNanos;
        });
    }

    private void finish(Commit commit) {
        StoreFailedException failure = state.failure();
        if (failure != null) {
            takeBackLost();
            state.forced.fail(failure);
            state.committed.fail(failure);
            commit.complete(failure);
        } else {
            flushOrFail(commit);
        }
    }

    private boolean forces(Commit commit) {
        return commit.fsyncRequested()
                || durability == Durability.SYNC
                        && (commit.level() == Durability.SYNC
                                || commit.end() - state.forced.position() > MAX_UNFORCED_BYTES);
    }

    /** Returns the durability required before a commit is acknowledged. */
    private Durability levelOf(Commit commit) {
        return commit.level().orWeaker(durability);
    }

    private void flushOrFail(Commit commit) {
        boolean force = forces(commit);
        try {
            writer.requireForcesWork();
            if (levelOf(commit) == Durability.MEMORY && alone()) {
                commit.complete(null);
            }
            long startNanos = state.nowNanos();
            int bytes = commit.frame().isEmpty() ? 0 : write(commit.frame());
            if (force) {
                writer.force();
                state.forced.advance(commit.end());
            }
            long durableNanos = state.nowNanos();
            commit.complete(null);
            state.committed.advance(commit.end());
            record(commit, bytes, force, startNanos, durableNanos);
        } catch (IOException | RuntimeException | Error failed) {
            takeBackLost();
            fail(failed);
            commit.complete(state.fail(failed));
        }
    }

    private int write(LogBuffer frame) throws IOException {
        ByteBuffer sealed = writer.seal(frame, alone());
        commitLog.commit(sealed.slice(0, frame.bytes()).asReadOnlyBuffer());
        return writer.write(frame, sealed);
    }

    /** Whether the store's own log contains the only copy of its frames. */
    private boolean alone() {
        return commitLog == FrameReplicator.LOCAL && !state.follows();
    }

    /** Replicates all later frames through this replicator. Called once every earlier frame has been written. */
    void commitTo(FrameReplicator log) {
        commitLog = log;
    }

    /**
     * Marks as lost the committed data that could not be fsynced, so that later reads of this data fail. Such data
     * exists only at levels weaker than {@code SYNC}.
     */
    private void takeBackLost() {
        if (writer.forceHasFailed()) {
            state.committed.takeBack(state.forced.position());
        }
    }

    /** Waits until all writes accepted so far are fsynced. Called on the checkpointer's thread only. */
    void forceLog() {
        awaitForced(state.locked(() -> queue.nextLsn()));
    }

    /** Waits until the log is fsynced up to this LSN. Called on the checkpointer's thread only. */
    void forceUpTo(long lsn) {
        try {
            writeBack();
        } catch (IOException notOpened) {
            // The flusher's fsync then writes these pages. Unlike this write-back, that fsync must not be skipped,
            // because a close depends on it.
        }
        awaitForced(lsn);
    }

    /**
     * Writes dirty log pages to disk before the flusher's fsync. If the durability is weaker than {@code SYNC}, these
     * pages may contain everything appended since the last checkpoint. Writers wait for the flusher's fsync, which then
     * has few pages left to write. This method opens its own file handles, because Linux reports a write-back error
     * once for each handle.
     */
    private void writeBack() throws IOException {
        long written = state.committed.position();
        long next = state.forced.position();
        long segment = state.geometry.segmentOf(next);
        // The written part of the log may end where the next segment begins, and that segment may not exist yet.
        while (next < written && state.log.ready(segment)) {
            try (StoreFile file = state.storage.open(FileNames.LOG.of(segment))) {
                force(file);
            }
            segment++;
            next = state.geometry.startOf(segment);
        }
    }

    private void force(StoreFile file) {
        try {
            file.force();
        } catch (IOException failed) {
            writer.forceFailed(failed);
            takeBackLost();
            state.locked(queue::requireForce);
            // The flusher fails the store with this error, so the awaited position is never reached and this call
            // throws.
            state.forced.await(Long.MAX_VALUE);
        }
    }

    private void awaitForced(long lsn) {
        state.locked(() -> {
            if (state.forced.position() < lsn) {
                queue.requireForce();
            }
        });
        state.forced.await(lsn);
    }

    /**
     * Fails the store, and with it all waiting calls. Later failures are only logged. May be called on any store
     * thread. Logs last, because a logger may throw.
     */
    void fail(Throwable cause) {
        StoreFailedException failure = state.locked(() -> state.failure() == null ? state.fail(cause) : null);
        if (failure == null) {
            LOG.error("{} had failed before, and has failed again", state.name(), cause);
            return;
        }
        state.forced.fail(failure);
        state.committed.fail(failure);
        LOG.error("{} has failed and must be reopened", state.name(), cause);
    }

    private void record(Commit commit, int bytes, boolean force, long startNanos, long durableNanos) {
        if (levelOf(commit) == durability) {
            delay.flushed(commit.count(), durableNanos - startNanos, durableNanos);
        }
        state.locked(() -> {
            Counters counters = state.counters;
            counters.logBytes += bytes;
            counters.fsyncs += force ? 1 : 0;
            if (bytes > 0) {
                counters.flushRecords.record(commit.frame().records());
                counters.fsyncNanos.record(durableNanos - startNanos);
            }
            if (commit.count() > 0) {
                long ackNanos = durableNanos - commit.firstNanos();
                counters.ackNanos.record(ackNanos);
                counters.recentAckNanos.record(ackNanos, durableNanos);
            }
        });
    }

    /**
     * Reclaims a slice of entries, unless the store has failed. Then checks the heap pressure even if there is no
     * write, because freed space lowers the pressure.
     */
    private boolean reclaimAndCheckPressure() {
        boolean freed = state.failure() == null && state.slice(space::reclaimSlice);
        if (freed) {
            afterFlush.run();
        }
        return freed;
    }
}
