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
 * Publishes checkpoints in the background, so that older log segments are no longer needed. A checkpoint is due when
 * the log since the last checkpoint has grown beyond a distance that depends on the size of the store, or when the log
 * has no space to grow. Between checkpoints, the checkpointer runs tasks that need the store's files to stay unchanged.
 *
 * <p>A checkpoint that fails for lack of space is retried later. A failed fsync of the log or the heap is final.
 */
final class Checkpointer {
    /**
     * Maximum number of heap bytes that count toward the distance between checkpoints. Bounds the log, and therefore
     * the recovery time.
     */
    private static final long MAX_HEAP_SHARE_BYTES = 256L << 20;

    /**
     * Upper bound on the distance between checkpoints, in bytes, regardless of the floor and the size of the index. The
     * log may grow to twice this length while a checkpoint is written.
     */
    private static final long MAX_DISTANCE_BYTES = Region.MAX_LOG_BYTES / 2;

    private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The longest pause between checkpoint attempts that fail because a part of the log is unreadable. */
    private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(64);

    private final StoreState state;
    private final Checkpoints checkpoints;
    private final Provisioner provisioner;
    private final Consumer<Throwable> failStore;

    /** Pending tasks. Guarded by the store's lock. */
    private final Deque<Request> requests = new ArrayDeque<>();

    /** Whether the worker has stopped, so that no pending task will run. Guarded by the store's lock. */
    private boolean stopped;

    private volatile long dueAtLsn;
    private boolean lastAttemptFailed;
    private long lastFailureNanos;
    private long retryNanos = RETRY_NANOS;
    /** Whether the last checkpoint attempt failed only because a part of the log is unreadable. */
    private boolean unreadable;

    Checkpointer(StoreState state, Checkpoints checkpoints, Provisioner provisioner, Consumer<Throwable> failStore) {
        this.state = state;
        this.checkpoints = checkpoints;
        this.provisioner = provisioner;
        this.failStore = failStore;
        this.dueAtLsn = dueAt();
    }

    /**
     * Returns the LSN at which the next checkpoint is due. The distance between checkpoints grows with the size of the
     * index, which each checkpoint writes, and with the used bytes of the heap. The later a checkpoint runs, the fewer
     * entries are still live and have to be moved.
     */
    private long dueAt() {
        long heapBytes = Math.min(state.locked(() -> state.heap.usedBytes()), MAX_HEAP_SHARE_BYTES);
        long stateBytes = (long) (state.config.checkpointFraction() * (checkpoints.newestBytes() + heapBytes));
        return checkpoints.newest().startLsn()
                + Math.min(Math.max(state.config.checkpointFloorBytes(), stateBytes), MAX_DISTANCE_BYTES);
    }

    /** Wakes the checkpointer if a checkpoint is due. Called after each flush. */
    void logGrew() {
        if (state.committed.position() >= dueAtLsn) {
            state.wakes.checkpointer().run();
        }
    }

    /**
     * Runs a task on the checkpointer's thread, so that no file is recycled while the task runs. The future completes
     * when the task ends.
     */
    CompletableFuture<Void> submit(Engine.FileTask task) {
        Request request = new Request(task, new CompletableFuture<>());
        state.locked(() -> {
            if (stopped) {
                request.reject(state.name());
            } else {
                requests.add(request);
            }
        });
        state.wakes.checkpointer().run();
        return request.done();
    }

    /** Rejects all pending and future tasks. Called once the worker has stopped. */
    void rejectRequests() {
        state.locked(() -> {
            stopped = true;
            requests.forEach(request -> request.reject(state.name()));
            requests.clear();
        });
    }

    private record Request(Engine.FileTask task, CompletableFuture<Void> done) {
        void serve() {
            try {
                task.run();
                done.complete(null);
            } catch (Throwable failed) {
                // Only a checkpoint can leave the engine in a broken state, and publish() then fails the store.
                done.completeExceptionally(failed);
            }
        }

        void reject(String store) {
            done.completeExceptionally(new StoreClosedException(store));
        }
    }

    /** Runs a pending task or, if there is none, publishes a checkpoint if one is due; see {@link Worker.Step}. */
    long step() {
        Request request = state.locked(requests::poll);
        if (request != null) {
            request.serve();
            return 0;
        }
        if (state.failure() != null || !due()) {
            return Worker.UNTIL_WOKEN;
        }
        // Even if a part of the log is unreadable, a checkpoint frees the space for which a write is waiting.
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
            LOG.warn(
                    "{}: the disk could not store a checkpoint, so the log stays longer; trying again",
                    state.name(),
                    failed);
        } else {
            LOG.error(
                    "{}: a checkpoint failed because of an internal error, so the log stays longer; trying again",
                    state.name(),
                    failed);
        }
    }

    /** Returns the time until the next checkpoint attempt. If the clock jumps back, the attempt is due at once. */
    private long retryPauseNanos() {
        long sinceNanos = state.nowNanos() - lastFailureNanos;
        return lastAttemptFailed && sinceNanos >= 0 ? Math.max(0, retryNanos - sinceNanos) : 0;
    }

    /**
     * Whether a checkpoint is due. A failed checkpoint is retried until it succeeds, because appends may be rejected
     * until then. A checkpoint is also due if a write is waiting for it.
     *
     * <p>If the log cannot grow, a checkpoint is due at any log size, provided that the next two checkpoints would free
     * log segments, heap segments, or heap places. Without this rule, the log would stay full regardless of trims and
     * deletes.
     */
    private boolean due() {
        long position = state.committed.position();
        // The end of the log may lie in a segment without disk space, where no checkpoint can start.
        long latestStart = Math.min(state.geometry.segmentOf(position), provisioner.lastReadySegment());
        return lastAttemptFailed
                || position >= dueAtLsn
                || checkpoints.wanted()
                || provisioner.isLogOutOfSpace()
                        && (latestStart > provisioner.neededLogSegment() || checkpoints.makeRoom());
    }

    /** Returns the approximate number of log bytes that a recovery would replay. */
    long logBytesSince() {
        return Math.max(0, state.committed.position() - checkpoints.newest().startLsn());
    }

    /** Returns the value that {@link #logBytesSince} will have when the next checkpoint begins. */
    long logBytesAtNext() {
        return Math.max(0, dueAtLsn - checkpoints.newest().startLsn());
    }

    /** Publishes a checkpoint now. Called on the checkpointer's thread only. */
    void publish() throws IOException {
        long startNanos = state.nowNanos();
        long longerNanos = unreadable ? Math.min(2 * retryNanos, MAX_RETRY_NANOS) : RETRY_NANOS;
        lastAttemptFailed = true;
        retryNanos = RETRY_NANOS;
        unreadable = false;
        try {
            checkpoints.publish();
            lastAttemptFailed = false;
        } catch (LogEvacuation.Unreadable kept) {
            retryNanos = longerNanos;
            unreadable = true;
            throw kept;
        } catch (LogEvacuation.ForceFailed | Error fatal) {
            failStore.accept(fatal instanceof Error ? fatal : fatal.getCause());
            throw Objects.requireNonNull(state.failure());
        } finally {
            if (lastAttemptFailed) {
                lastFailureNanos = state.nowNanos();
                state.locked(() -> state.counters.failures++);
            }
        }
        dueAtLsn = dueAt();
        state.locked(() -> {
            state.counters.checkpoints++;
            state.counters.lastCheckpointNanos = state.nowNanos() - startNanos;
        });
    }
}
