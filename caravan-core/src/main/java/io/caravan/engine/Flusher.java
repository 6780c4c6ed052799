package io.caravan.engine;

import io.caravan.CommitLog;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.wal.LogBuffer;
import io.caravan.wal.LogWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes commits from the queue one by one: waits as the policy says, commits the frame to the group that the store
 * belongs to, if any ({@link CommitLog}), writes it, forces it, acknowledges, publishes the committed position, which
 * readers wait for. While it is busy the next commit gathers.
 *
 * <p>A flush is begun and ended under the store's lock, and in between is one thread's: that of the flusher, or of a
 * writer who {@linkplain ListStore.Group#closeAndFlush() makes it itself}. The first failure of a write or force is final: it is never tried again, as the operating
 * system may have dropped the pages that it could not write (Rebello et al., "Can Applications Recover from fsync
 * Failures?", ATC 2020).
 */
final class Flusher {
    private static final Logger LOG = LoggerFactory.getLogger(Flusher.class);
    /**
     * How much of weaker writes a store that forces leaves to the next force at most: whoever is waiting for that one has
     * to wait for all of it.
     */
    private static final long MAX_UNFORCED_BYTES = 8L << 20;

    /** How much of weaker writes a writer's thread forces along with its own at most. */
    private static final long MAX_UNFORCED_HERE_BYTES = 64L << 10;

    private final StoreState state;
    private final Threading threading;
    private final CommitQueue queue;
    private final FlushDemand demand;
    private final HeapSpace space;
    private final Writability writability;
    private final LogWriter writer;
    private final Durability durability;
    private final FlushDelay delay;
    private final PreciseSleeper sleeper;
    private final LongSupplier clock;
    private final LsnGate forced;
    private final LsnGate committed;
    private final Runnable afterFlush;
    private volatile CommitLog commitLog = CommitLog.LOCAL;

    Flusher(
            StoreState state,
            CommitQueue queue,
            FlushDemand demand,
            HeapSpace space,
            Writability writability,
            Recovered recovered,
            Gates gates,
            StoreConfig config,
            LongSupplier clock,
            Threading threading,
            Runnable afterFlush) {
        this.state = state;
        this.threading = threading;
        this.queue = queue;
        this.demand = demand;
        this.space = space;
        this.writability = writability;
        this.writer = new LogWriter(recovered.log(), recovered.newest().storeId(), recovered.end());
        this.forced = gates.forced();
        this.committed = gates.committed();
        this.durability = config.durability();
        this.delay = new FlushDelay(config.flushPolicy());
        this.sleeper = new PreciseSleeper(clock, Runtime.getRuntime().availableProcessors());
        this.clock = clock;
        this.afterFlush = afterFlush;
    }

    /** How far the log is forced, and how far it is committed: as durable as the store promises. */
    record Gates(LsnGate forced, LsnGate committed) {}

    /** One flush, or one slice of reclaiming; see {@link Worker.Step}. */
    long step() {
        if (state.failure() != null) {
            return stepOfFailed();
        }
        if (!workWaits()) {
            writability.runActions();
            return reclaimAndLook() ? 0 : restNanos();
        }
        long delayNanos = delayNanos();
        if (delayNanos > 0) {
            long parkNanos = sleeper.parkOrSpin(clock.getAsLong() + delayNanos, demand::urgent);
            if (parkNanos > 0) {
                return Math.min(parkNanos, delayNanos);
            }
        }
        if (state.locked(demand::beginFlush)) {
            flushBegun();
        }
        return 0;
    }

    /** The flush that this thread has begun, and what follows each. */
    private void flushBegun() {
        try {
            flush();
            writability.runActions();
            reclaim();
            afterFlush.run();
        } catch (RuntimeException | Error broken) {
            // Whichever thread this is.
            fail(broken);
            throw broken;
        } finally {
            state.locked(demand::endFlush);
        }
    }

    /** See {@link ListStore#group()}. */
    ListStore.Group openGroup() {
        return new OpenGroup(state.locked(demand::openGroup));
    }

    private final class OpenGroup implements ListStore.Group {
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
            if (close(threading.mayTouchFiles())) {
                threading.doInstead(Flusher.this::flushBegun);
            }
        }

        /** Returns whether a flush was begun, which is the caller's. */
        private boolean close(boolean mayFlush) {
            state.lock.lock();
            try {
                if (closed) {
                    return false;
                }
                closed = true;
                if (mayFlush && flushesHere()) {
                    return demand.closeGroupAndBegin(generation);
                }
                demand.closeGroup(generation);
                return false;
            } finally {
                state.lock.unlock();
            }
        }
    }

    /** Whether a writer's thread would be done with a flush soon. Under the lock. */
    private boolean flushesHere() {
        return !demand.flushing()
                && (durability != Durability.SYNC || queue.tail() - forced.position() <= MAX_UNFORCED_HERE_BYTES)
                && state.takesWrites()
                && commitLog == CommitLog.LOCAL
                && queue.active().delayNanos(delay) == 0
                && delay.quick();
    }

    /** Returns when no writer's thread flushes. None will begin to, as the store closes. */
    void awaitWriters() {
        state.lock.lock();
        try {
            while (demand.flushing()) {
                state.awaitChange();
            }
        } finally {
            state.lock.unlock();
        }
    }

    /** A failed store has nothing to do but to tell those who wait. */
    private long stepOfFailed() {
        if (state.locked(demand::beginFlush)) {
            try {
                flush();
            } finally {
                state.locked(demand::endFlush);
            }
        }
        writability.runActions();
        return Worker.UNTIL_WOKEN;
    }

    private boolean workWaits() {
        return state.locked(demand::hasWork);
    }

    private long restNanos() {
        return state.locked(() -> demand.restNanos());
    }

    /** How much longer the active commit shall wait; not at all when the clock says that it lies in the future. */
    private long delayNanos() {
        state.lock.lock();
        try {
            if (demand.urgent() || demand.flushing() || queue.active().count() == 0) {
                return 0;
            }
            long waitedNanos = clock.getAsLong() - queue.active().firstNanos();
            return waitedNanos < 0 ? 0 : queue.active().delayNanos(delay) - waitedNanos;
        } finally {
            state.lock.unlock();
        }
    }

    private void flush() {
        Commit commit;
        boolean force;
        long end;
        state.lock.lock();
        try {
            force = demand.takeForceWanted();
            commit = queue.seal();
            end = queue.tail();
        } finally {
            state.lock.unlock();
        }
        try {
            StoreFailedException failure = state.failure();
            if (failure != null) {
                takeBackLost();
                forced.fail(failure);
                committed.fail(failure);
                commit.fail(failure);
            } else {
                flushOrFail(commit, force || forces(commit, end), end);
            }
        } finally {
            release(commit);
        }
    }

    /** Whether a commit is forced, though nobody has asked for a force. */
    private boolean forces(Commit commit, long end) {
        return durability == Durability.SYNC
                && (commit.level() == Durability.SYNC || end - forced.position() > MAX_UNFORCED_BYTES);
    }

    /** How durable a commit must be before anybody is told. */
    private Durability levelOf(Commit commit) {
        return commit.level().orWeaker(durability);
    }

    private void flushOrFail(Commit commit, boolean force, long end) {
        try {
            writer.requireForcesWork();
            if (levelOf(commit) == Durability.NONE && alone()) {
                commit.acknowledge();
            }
            long startNanos = clock.getAsLong();
            int bytes = commit.frame().isEmpty() ? 0 : write(commit.frame());
            if (force) {
                writer.force();
                forced.advance(end);
            }
            long durableNanos = clock.getAsLong();
            commit.acknowledge();
            committed.advance(end);
            record(commit, bytes, force, startNanos, durableNanos);
        } catch (IOException | RuntimeException | Error failed) {
            takeBackLost();
            fail(failed);
            commit.fail(state.fail(failed));
        }
    }

    private int write(LogBuffer frame) throws IOException {
        ByteBuffer sealed = writer.seal(frame, alone());
        commitLog.commit(sealed.slice(0, frame.bytes()).asReadOnlyBuffer());
        return writer.write(frame, sealed);
    }

    /** Whether the store belongs to no group, which would have what its own log may lose. */
    private boolean alone() {
        return commitLog == CommitLog.LOCAL && !state.follows();
    }

    /** From the next frame on. Called when every frame so far is written. */
    void commitTo(CommitLog log) {
        commitLog = log;
    }

    /** Below {@code SYNC}, what could not be forced was committed: it must not be read any more. */
    private void takeBackLost() {
        if (writer.forceHasFailed()) {
            committed.takeBack(forced.position());
        }
    }

    /**
     * Somebody else has forced a file of the log, and failed: the next flush fails with that, as if the force had been its
     * own. On any store thread.
     */
    void logForceFailed(IOException failure) {
        writer.forceFailed(failure);
        takeBackLost();
        state.locked(demand::requireForce);
    }

    /** Makes the store fail; whoever waits is told. What fails afterwards is logged only. On any store thread. */
    void fail(Throwable cause) {
        StoreFailedException failure;
        state.lock.lock();
        try {
            if (state.failure() != null) {
                LOG.error("{} had failed already, and now this", state.name(), cause);
                return;
            }
            failure = state.fail(cause);
            demand.requireForce();
        } finally {
            state.lock.unlock();
        }
        LOG.error("{} has failed and must be reopened", state.name(), cause);
        forced.fail(failure);
        committed.fail(failure);
    }

    private void record(Commit commit, int bytes, boolean force, long startNanos, long durableNanos) {
        if (levelOf(commit) == durability) {
            delay.flushed(commit.count(), durableNanos - startNanos, durableNanos);
        }
        state.lock.lock();
        try {
            Counters counters = state.counters;
            counters.logBytes += bytes;
            counters.forces += force ? 1 : 0;
            if (bytes > 0) {
                counters.batchRecords.record(commit.frame().records());
                counters.forceNanos.record(durableNanos - startNanos);
            }
            if (commit.count() > 0) {
                long ackNanos = durableNanos - commit.firstNanos();
                counters.ackNanos.record(ackNanos);
                counters.recentAckNanos.record(ackNanos, durableNanos);
            }
        } finally {
            state.lock.unlock();
        }
    }

    private void release(Commit commit) {
        state.locked(() -> queue.release(commit));
    }

    private boolean reclaim() {
        state.lock.lockForSlice();
        try {
            return space.reclaimSlice();
        } finally {
            state.lock.unlock();
        }
    }

    /** Freed space relieves the heap, and whoever watches its pressure learns of that without waiting for a write. */
    private boolean reclaimAndLook() {
        boolean freed = reclaim();
        if (freed) {
            afterFlush.run();
        }
        return freed;
    }
}
