package io.caravan.engine;

import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.Region;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes checkpoints in the background, without stopping writes, so that older log segments are no longer needed. A
 * checkpoint is due when the log since the last checkpoint has grown beyond a distance that depends on the size of the
 * store, or when the log has no space to grow. A checkpoint that fails for lack of space is retried later. A failed
 * fsync of the log or the heap is final. Between checkpoints, the checkpointer runs tasks that need the store's files
 * to stay unchanged.
 *
 * <p>A checkpoint contains the index as of one LSN. docs/internals/checkpoints.md describes the steps. The last two
 * checkpoints are retained, as is the log from the start LSN of the older checkpoint. Used by the checkpointer's thread
 * only, except where a method says otherwise.
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

    /** Number of regions written to a checkpoint file at a time. */
    private static final int SLICE_LONGS = 1 << 10;

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final Flusher flusher;
    private final LogEvacuation tenuring;

    /** Pending tasks. Guarded by the store's lock. */
    private final Deque<Runnable> requests = new ArrayDeque<>();
    /** Whether the worker has stopped, so that tasks are rejected. */
    private volatile boolean stopped;

    private final long[] slice = new long[SLICE_LONGS];
    /** The retained checkpoints, oldest first. */
    private final List<CheckpointHeader> kept;

    private volatile CheckpointHeader newest;
    private long newestBytes;
    /** Number of heap segments to which the retained checkpoints refer. */
    private int countedHeapSegments;

    private volatile long dueAtLsn;
    private boolean lastAttemptFailed;
    private long lastAttemptNanos;
    private long retryNanos = RETRY_NANOS;
    /** Whether the last checkpoint attempt failed only because a part of the log is unreadable. */
    private boolean unreadable;

    Checkpointer(
            StoreState state,
            CommitQueue queue,
            HeapSpace space,
            Provisioner provisioner,
            Flusher flusher,
            Recovered recovered) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.provisioner = provisioner;
        this.flusher = flusher;
        this.tenuring = new LogEvacuation(state, queue, space, provisioner, flusher);
        this.kept = new ArrayList<>(recovered.checkpoints());
        this.newest = recovered.newest();
        this.newestBytes = recovered.newestBytes();
        this.countedHeapSegments = state.heapFile.segmentCount();
        this.dueAtLsn = dueAt();
    }

    /** Returns the newest checkpoint. May be called on any thread. */
    CheckpointHeader newest() {
        return newest;
    }

    List<CheckpointHeader> kept() {
        return List.copyOf(kept);
    }

    /**
     * Returns the LSN at which the next checkpoint is due. The distance between checkpoints grows with the size of the
     * index, which each checkpoint writes, and with the used bytes of the heap. The later a checkpoint runs, the fewer
     * entries are still live and have to be moved.
     */
    private long dueAt() {
        long heapBytes = Math.min(state.locked(() -> state.heap.usedBytes()), MAX_HEAP_SHARE_BYTES);
        long stateBytes = (long) (state.config.checkpointFraction() * (newestBytes + heapBytes));
        return newest.startLsn()
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
        CompletableFuture<Void> done = new CompletableFuture<>();
        // Only a checkpoint can leave the engine in a broken state, and publish() then fails the store.
        Runnable request = DedicatedThread.completing(done, () -> {
            if (stopped) {
                throw new StoreClosedException(state.name());
            }
            task.run();
            return null;
        });
        state.locked(() -> requests.add(request));
        state.wakes.checkpointer().run();
        if (stopped) {
            rejectRequests();
        }
        return done;
    }

    /** Rejects all pending and future tasks. Called once the worker has stopped. */
    void rejectRequests() {
        stopped = true;
        boolean more = true;
        while (more) {
            more = servesRequest();
        }
    }

    private boolean servesRequest() {
        Runnable request = state.locked(requests::poll);
        if (request != null) {
            request.run();
        }
        return request != null;
    }

    /** Runs a pending task or, if there is none, publishes a checkpoint if one is due; see {@link Worker.Step}. */
    long step() {
        if (servesRequest()) {
            return 0;
        }
        if (state.failure() != null || !due()) {
            return Worker.UNTIL_WOKEN;
        }
        // Even if a part of the log is unreadable, a checkpoint frees the space for which a write is waiting.
        long pauseNanos = unreadable && space.needsCheckpoint() ? 0 : retryPauseNanos();
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
        long sinceNanos = state.nowNanos() - lastAttemptNanos;
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
                || space.needsCheckpoint()
                || provisioner.isLogOutOfSpace()
                        && (latestStart > provisioner.neededLogSegment()
                                || state.locked(() -> space.checkpointsMakeRoom(countedHeapSegments)));
    }

    /** Returns the approximate number of log bytes that a recovery would replay. */
    long logBytesSince() {
        return Math.max(0, state.committed.position() - newest.startLsn());
    }

    /** Returns the value that {@link #logBytesSince} will have when the next checkpoint begins. */
    long logBytesAtNext() {
        return Math.max(0, dueAtLsn - newest.startLsn());
    }

    /** Publishes a checkpoint now if the store has changed since the newest checkpoint. */
    void publishIfChanged() throws IOException {
        if (state.locked(() -> queue.nextLsn() != newest.startLsn())) {
            publish();
        }
    }

    /**
     * Publishes a checkpoint now.
     *
     * @throws StoreFailedException if an fsync fails, or if the store failed earlier and its index is therefore not
     *     trustworthy
     */
    void publish() throws IOException {
        long startNanos = state.nowNanos();
        long longerNanos = unreadable ? Math.min(2 * retryNanos, MAX_RETRY_NANOS) : RETRY_NANOS;
        lastAttemptFailed = true;
        retryNanos = RETRY_NANOS;
        unreadable = false;
        String problem = null;
        state.locked(space::checkpointBegins);
        try {
            StoreFailedException failedBefore = state.failure();
            if (failedBefore != null) {
                throw failedBefore;
            }
            publishNext();
            lastAttemptFailed = false;
        } catch (LogEvacuation.Unreadable kept) {
            // Waiting writes need not fail: freed space is reusable again, and every readable survivor has moved.
            retryNanos = longerNanos;
            unreadable = true;
            throw kept;
        } catch (Error broken) {
            flusher.fail(broken);
            throw Objects.requireNonNull(state.failure());
        } catch (IOException | RuntimeException failed) {
            problem = String.valueOf(failed.getMessage());
            throw failed;
        } finally {
            lastAttemptNanos = state.nowNanos();
            endAttempt(problem);
        }
        dueAtLsn = dueAt();
        state.locked(() -> {
            state.counters.checkpoints++;
            state.counters.lastCheckpointNanos = state.nowNanos() - startNanos;
        });
    }

    private void endAttempt(@Nullable String problem) {
        state.locked(() -> {
            space.checkpointEnded(problem);
            state.counters.failures += lastAttemptFailed ? 1 : 0;
        });
    }

    private void publishNext() throws IOException {
        Start begun = begin();
        flusher.forceUpTo(begun.tail());
        Start start = whereSpaceIs(begun);
        try {
            tenuring.tenure(start.lsn());
        } catch (LogEvacuation.Unreadable kept) {
            provisioner.logKept(kept);
            if (state.locked(space::hasFreed)) {
                writeAndPublish(atLastStart(begun));
            }
            throw kept;
        } catch (IOException noRoom) {
            // A log of an earlier format may have frames that are only in the page cache, so no new checkpoint may keep
            // it.
            if (newest.version() < FileHeader.NEWEST_VERSION || !state.locked(space::hasFreed)) {
                throw noRoom;
            }
            // The places of trimmed entries may be enough space. A checkpoint that leaves the survivors in the log
            // makes these places reusable.
            writeAndPublish(atLastStart(begun));
            tenuring.tenure(start.lsn());
        }
        provisioner.logKept(null);
        writeAndPublish(start);
    }

    /** Returns the replay start for a checkpoint that leaves the survivors in the log. */
    private Start atLastStart(Start begun) {
        return new Start(newest.startLsn(), newest.previous().lsn(), begun.tail());
    }

    /**
     * The LSN at which replay starts, the frame before this LSN, and the position up to which the log must be fsynced
     * first.
     */
    private record Start(long lsn, long previousLsn, long tail) {}

    private Start begin() {
        state.inSlices(space::releaseTrailingSlice);
        return state.locked(() -> new Start(queue.replayStart(), queue.lastSealedLsn(), queue.tail()));
    }

    /**
     * Moves the replay start back to the last frame if the start lies in a segment that has no disk space yet. A log
     * that is full to its last byte can therefore still be recycled.
     */
    private Start whereSpaceIs(Start start) throws IOException {
        if (state.geometry.segmentOf(start.lsn()) <= provisioner.lastReadySegment()) {
            return start;
        }
        long lastFrame = start.previousLsn();
        if (lastFrame < newest.startLsn()) {
            throw new IOException("the log segment that replay would start in has no space yet");
        }
        return new Start(lastFrame, state.log.previousLsn(lastFrame), start.tail());
    }

    private void writeAndPublish(Start start) throws IOException {
        long number = newest.number() + 1;
        try (CheckpointWriter writer = new CheckpointWriter(state.storage, number)) {
            Frozen frozen = freeze();
            try {
                write(frozen, start.lsn(), writer);
            } catch (UncheckedIOException rejected) {
                throw rejected.getCause();
            } finally {
                state.locked(state.index::thaw);
            }
            flusher.forceUpTo(frozen.lsn());
            CheckpointHeader header = new CheckpointHeader(
                    FileHeader.NEWEST_VERSION,
                    number,
                    state.storeId,
                    start.lsn(),
                    frozen.lsn(),
                    linkOf(start.previousLsn()),
                    writer.lists(),
                    writer.entries(),
                    state.geometry.segmentBytes(),
                    state.heapFile.geometry().segmentBytes(),
                    frozen.heapSegments(),
                    ListIndex.PARTITIONS);
            writer.publish(header);
            published(header, writer.bytes());
        }
    }

    /** Returns the link to a frame. The frame must not precede the frame before the newest checkpoint's start. */
    private Link linkOf(long lsn) throws IOException {
        return lsn == newest.previous().lsn() ? newest.previous() : state.log.link(lsn);
    }

    /** The index as of an LSN: it reflects every record before the LSN and no later record. */
    private record Frozen(ListIndex index, long lsn, int heapSegments) {}

    private Frozen freeze() {
        return state.slice(() -> {
            space.indexFrozen();
            return new Frozen(state.index.freeze(), queue.nextLsn(), space.segments());
        });
    }

    private void write(Frozen frozen, long startLsn, CheckpointWriter writer) throws IOException {
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            writer.startPartition(partition, frozen.lsn());
            frozen.index().forEachList(partition, list -> write(frozen, list, startLsn, writer));
            writer.endPartition();
        }
    }

    private void write(Frozen frozen, int list, long startLsn, CheckpointWriter writer) {
        ListIndex index = frozen.index();
        long first = index.first(list);
        long next = index.next(list);
        try {
            writer.list(index.id(list), index.creationLsn(list), first, next);
            ListCursor cursor = new ListCursor();
            index.seek(list, first, cursor);
            while (cursor.sequence() < next) {
                int count = (int) Math.min(slice.length, next - cursor.sequence());
                index.copyRegions(cursor, slice, 0, count);
                requireKept(index.id(list), count, startLsn, frozen.lsn());
                writer.regions(slice, 0, count);
            }
        } catch (IOException rejected) {
            throw new UncheckedIOException(rejected);
        }
    }

    /**
     * Checks that no region refers to the log before the checkpoint's start, because that part of the log will be
     * removed. Throws an error rather than an exception: the store must fail while the log is still complete.
     */
    private void requireKept(long id, int count, long startLsn, long frozenLsn) {
        for (int i = 0; i < count; i++) {
            if (Region.isInLog(slice[i]) && Region.entryLsn(slice[i], frozenLsn) < startLsn) {
                throw new AssertionError("document " + id + " has an entry in the log before LSN " + startLsn
                        + ", where the checkpoint starts; open the store again");
            }
        }
    }

    private void published(CheckpointHeader header, long fileBytes) throws IOException {
        CheckpointHeader older = newest;
        newest = header;
        newestBytes = fileBytes;
        provisioner.published(fileBytes);
        state.inSlices(space::reuseSlice);
        kept.add(header);
        while (kept.size() > 2) {
            state.storage.delete(FileNames.CHECKPOINT.of(kept.get(0).number()));
            kept.remove(0);
        }
        state.storage.forceDirectory();
        // The segments are released last, so that no crash leaves a checkpoint without its log or heap segments.
        provisioner.release(state.geometry.segmentOf(older.startLsn()));
        countedHeapSegments = Math.max(older.heapSegments(), header.heapSegments());
        state.heapFile.dropFrom(provisioner.leasedHeapSegments(countedHeapSegments));
    }
}
