package io.caravan.engine;

import io.caravan.StoreClosedException;
import io.caravan.format.Region;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the log's older part unnecessary, in the background: publishes a checkpoint when the log since the last has
 * outgrown what it would write, or when the log has no space to grow. Between checkpoints it runs the tasks that need
 * the files to stay as they are.
 *
 * <p>A checkpoint that fails for want of space is tried again later, because nothing depends on it. A failed force of
 * the log or the heap is final.
 */
final class Checkpointer {
    /** However large the heap, it makes the log, and so a recovery, longer by no more than this. */
    private static final long MAX_HEAP_SHARE_BYTES = 256L << 20;

    /** However large floor and index are: the log may get twice as long while a checkpoint is written. */
    private static final long MAX_DISTANCE_BYTES = Region.MAX_LOG_BYTES / 2;

    private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The longest pause between attempts that fail because a part of the log cannot be read. */
    private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(64);

    private final StoreState state;
    private final Checkpoints checkpoints;
    private final Provisioner provisioner;
    private final Consumer<Throwable> failStore;

    /** Tasks that wait for their turn. Guarded by the store's lock. */
    private final Deque<Request> requests = new ArrayDeque<>();

    /** Whether nobody will serve requests any more. Guarded by the store's lock. */
    private boolean stopped;

    private volatile long dueAtLsn;
    private boolean lastAttemptFailed;
    private long lastFailureNanos;
    /** How long after a failure the next attempt is made. */
    private long retryNanos = RETRY_NANOS;
    /** Whether the last attempt failed only because a part of the log cannot be read. */
    private boolean unreadable;

    Checkpointer(StoreState state, Checkpoints checkpoints, Provisioner provisioner, Consumer<Throwable> failStore) {
        this.state = state;
        this.checkpoints = checkpoints;
        this.provisioner = provisioner;
        this.failStore = failStore;
        this.dueAtLsn = dueAt();
    }

    /**
     * A checkpoint writes the index, and moves what has survived to the heap. The longer it waits, the fewer values do:
     * so the log may grow with the index and with what is live.
     */
    private long dueAt() {
        long heapBytes = Math.min(state.locked(() -> state.heap.usedBytes()), MAX_HEAP_SHARE_BYTES);
        long stateBytes = (long) (state.config.checkpointFraction() * (checkpoints.newestBytes() + heapBytes));
        return checkpoints.newest().startLsn()
                + Math.min(Math.max(state.config.checkpointFloorBytes(), stateBytes), MAX_DISTANCE_BYTES);
    }

    /** The flusher calls this after each flush. */
    void logGrew() {
        if (state.committed.position() >= dueAtLsn) {
            state.wakes.checkpointer().run();
        }
    }

    /** Runs a task on the checkpointer's thread, so that no file is recycled while it runs; completes with it. */
    CompletableFuture<Void> submit(Engine.FileTask task) {
        Request request = new Request(task, new CompletableFuture<>());
        state.locked(() -> {
            if (stopped) {
                request.refuse(state.name());
            } else {
                requests.add(request);
            }
        });
        state.wakes.checkpointer().run();
        return request.done();
    }

    /** Refuses whoever still waits, and whoever comes; called when the worker has stopped. */
    void refuseRequests() {
        state.locked(() -> {
            stopped = true;
            requests.forEach(request -> request.refuse(state.name()));
            requests.clear();
        });
    }

    /** A task, and who waits for it. */
    private record Request(Engine.FileTask task, CompletableFuture<Void> done) {
        void serve() {
            try {
                task.run();
                done.complete(null);
            } catch (Throwable failed) {
                // Only a checkpoint can leave the engine broken, and that fails the store itself.
                done.completeExceptionally(failed);
            }
        }

        void refuse(String store) {
            done.completeExceptionally(new StoreClosedException(store));
        }
    }

    /** A request, or a checkpoint if one is due; see {@link Worker.Step}. */
    long step() {
        Request request = state.locked(requests::poll);
        if (request != null) {
            request.serve();
            return 0;
        }
        if (state.failure() != null || !due()) {
            return Worker.UNTIL_WOKEN;
        }
        // What a write waits for is freed though a part of the log cannot be read.
        long pauseNanos = unreadable && checkpoints.wanted() ? 0 : retryPauseNanos();
        if (pauseNanos > 0) {
            return pauseNanos;
        }
        try {
            publish();
            return 0;
        } catch (IOException | RuntimeException failed) {
            report(failed);
            return retryNanos;
        }
    }

    private void report(Exception failed) {
        if (state.failure() != null) {
            return;
        }
        if (failed instanceof IOException) {
            LOG.warn("{}: the disk refused a checkpoint, so the log stays longer; trying again", state.name(), failed);
        } else {
            LOG.error("{}: a checkpoint broke, so the log stays longer; trying again", state.name(), failed);
        }
    }

    /** How long until the next attempt; a clock that jumps back makes it due at once. */
    private long retryPauseNanos() {
        long sinceNanos = state.nowNanos() - lastFailureNanos;
        return lastAttemptFailed && sinceNanos >= 0 ? Math.max(0, retryNanos - sinceNanos) : 0;
    }

    /**
     * A log that cannot grow is worth a checkpoint at any size, as long as it holds segments that the next two would
     * make free, or the heap has places or segments that they would. Otherwise it would stay full, whatever is trimmed and deleted. One that failed is tried again until it
     * succeeds: appends may be refused because of it. So is one that a write waits for.
     */
    private boolean due() {
        long position = state.committed.position();
        // The log's end may lie in a segment that has no space yet, where no checkpoint can start.
        long latestStart = Math.min(state.geometry.segmentOf(position), provisioner.lastReadySegment());
        return lastAttemptFailed
                || position >= dueAtLsn
                || checkpoints.wanted()
                || provisioner.logStarved() && (latestStart > provisioner.neededLogSegment() || checkpoints.makeRoom());
    }

    /** How much log a recovery would replay, about. */
    long logBytesSince() {
        return Math.max(0, state.committed.position() - checkpoints.newest().startLsn());
    }

    /** What {@link #logBytesSince} will be when the next checkpoint begins. */
    long logBytesAtNext() {
        return Math.max(0, dueAtLsn - checkpoints.newest().startLsn());
    }

    /** Publishes a checkpoint. On the checkpointer's thread only. */
    void publish() throws IOException {
        long startNanos = state.nowNanos();
        try {
            checkpoints.publish();
        } catch (Tenuring.ForceFailed failed) {
            countFailure();
            failStore.accept(failed.getCause());
            throw Objects.requireNonNull(state.failure());
        } catch (Tenuring.Unreadable kept) {
            countFailure();
            retryNanos = unreadable ? Math.min(2 * retryNanos, MAX_RETRY_NANOS) : RETRY_NANOS;
            unreadable = true;
            throw kept;
        } catch (IOException | RuntimeException failed) {
            countFailure();
            retryEachSecond();
            throw failed;
        } catch (Error broken) {
            countFailure();
            failStore.accept(broken);
            throw Objects.requireNonNull(state.failure());
        }
        lastAttemptFailed = false;
        retryEachSecond();
        dueAtLsn = dueAt();
        state.locked(() -> {
            state.counters.checkpoints++;
            state.counters.lastCheckpointNanos = state.nowNanos() - startNanos;
        });
    }

    private void retryEachSecond() {
        retryNanos = RETRY_NANOS;
        unreadable = false;
    }

    private void countFailure() {
        lastAttemptFailed = true;
        lastFailureNanos = state.nowNanos();
        state.locked(() -> state.counters.failures++);
    }
}
