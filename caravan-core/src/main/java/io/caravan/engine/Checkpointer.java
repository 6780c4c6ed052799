package io.caravan.engine;

import io.caravan.StoreClosedException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.FileNames;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the log's older part unnecessary, in the background, without stopping writes.
 *
 * <p>A checkpoint is fuzzy: (1) note where replay shall start, the first frame that is not sealed yet; (2) wait until
 * everything before it is applied, and force the heap; (3) capture the index partition by partition, each under the lock
 * for a moment and each noting the LSN it was captured at; (4) wait until the log is forced past the last capture; (5)
 * write, force, rename, force the directory. The last two checkpoints are kept, and the log back to the older one's
 * start. One starts when the log since the last has outgrown what it would write, or when the log has no space
 * to grow.
 *
 * <p>A checkpoint that fails for want of space is tried again later, as nothing depends on it. A failed force of the
 * heap is final.
 */
final class Checkpointer {
    /** However large the heap, it makes the log, and so a recovery, longer by no more than this. */
    private static final long MAX_HEAP_SHARE_BYTES = 256L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(Checkpointer.class);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Where the newest checkpoint stands. */
    record Published(CheckpointHeader header, long fileBytes) {}

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final HeapFile heapFile;
    private final Storage storage;
    private final LogSegments log;
    private final LogGeometry logGeometry;
    private final Flusher.Gates gates;
    private final long storeId;
    private final long floorBytes;
    private final double fraction;
    private final Consumer<Throwable> failStore;
    private final LongSupplier clock;
    private final PartitionCapture capture;

    /** Requests that wait for a checkpoint, or for a task of their own. Guarded by the store's lock. */
    private final Deque<Request> requests = new ArrayDeque<>();

    /** Whether nobody will serve requests any more. Guarded by the store's lock. */
    private boolean stopped;

    private final List<Long> kept = new ArrayList<>();
    private volatile Published newest;
    private volatile long dueAtLsn;
    private int peakHeapSegments;
    private boolean lastAttemptFailed;
    private long lastFailureNanos;
    private Runnable wake = () -> {};

    Checkpointer(
            StoreState state,
            CommitQueue queue,
            HeapSpace space,
            Provisioner provisioner,
            HeapFile heapFile,
            Storage storage,
            LogGeometry logGeometry,
            Flusher.Gates gates,
            Recovered recovered,
            long floorBytes,
            double fraction,
            Consumer<Throwable> failStore,
            LongSupplier clock) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.provisioner = provisioner;
        this.heapFile = heapFile;
        this.storage = storage;
        this.log = recovered.log();
        this.logGeometry = logGeometry;
        this.gates = gates;
        this.storeId = recovered.newest().storeId();
        this.floorBytes = floorBytes;
        this.fraction = fraction;
        this.failStore = failStore;
        this.clock = clock;
        this.capture = new PartitionCapture(state, queue, space);
        this.kept.addAll(recovered.checkpoints());
        this.newest = new Published(recovered.newest(), recovered.newestBytes());
        this.dueAtLsn = dueAt();
    }

    void onWork(Runnable wakeWorker) {
        wake = wakeWorker;
    }

    /**
     * A checkpoint writes the index, and forces what has changed of the heap: under scattered writes that is soon all of
     * it, so the log may grow with both.
     */
    private long dueAt() {
        long heapBytes = Math.min(usedHeapBytes(), MAX_HEAP_SHARE_BYTES);
        long stateBytes = (long) (fraction * (newest.fileBytes() + heapBytes));
        return WritePath.saturatedSum(newest.header().startLsn(), Math.max(floorBytes, stateBytes));
    }

    private long usedHeapBytes() {
        state.lock.lock();
        try {
            return state.heap.usedBytes();
        } finally {
            state.lock.unlock();
        }
    }

    /** Has a checkpoint tried again and again, whatever the log's length, until one succeeds. */
    void overdue() {
        dueAtLsn = 0;
        wake.run();
    }

    /** The flusher calls this after each flush. */
    void logGrew() {
        if (gates.applied().position() >= dueAtLsn) {
            wake.run();
        }
    }

    /** Runs a task on the checkpointer's thread, so that no file is recycled while it runs; completes with it. */
    CompletableFuture<Void> submit(FileTask task) {
        Request request = new Request(task, new CompletableFuture<>());
        state.lock.lock();
        try {
            if (stopped) {
                request.refuse(state.name());
            } else {
                requests.add(request);
            }
        } finally {
            state.lock.unlock();
        }
        wake.run();
        return request.done();
    }

    /** Tells everybody who still waits that nobody will serve them; called when the worker has stopped. */
    void refuseRequests() {
        state.lock.lock();
        try {
            stopped = true;
            requests.forEach(request -> request.refuse(state.name()));
            requests.clear();
        } finally {
            state.lock.unlock();
        }
    }

    /** A task, and who waits for it. */
    private record Request(FileTask task, CompletableFuture<Void> done) {
        void serve() {
            try {
                task.run();
                done.complete(null);
            } catch (IOException | RuntimeException failed) {
                done.completeExceptionally(failed);
            } catch (Error broken) {
                done.completeExceptionally(broken);
                throw broken;
            }
        }

        void refuse(String store) {
            done.completeExceptionally(new StoreClosedException(store));
        }
    }

    /** A request, or a checkpoint if one is due; see {@link Worker.Step}. */
    long step() {
        Request request = nextRequest();
        if (request != null) {
            request.serve();
            return 0;
        }
        if (state.failure() != null || !due()) {
            return Worker.UNTIL_WOKEN;
        }
        long pauseNanos = retryPauseNanos();
        if (pauseNanos > 0) {
            return pauseNanos;
        }
        try {
            publish();
            lastAttemptFailed = false;
            return 0;
        } catch (IOException | RuntimeException failed) {
            lastAttemptFailed = true;
            lastFailureNanos = clock.getAsLong();
            report(failed);
            return RETRY_NANOS;
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

    /** How long the next attempt still has to wait, whoever wakes this worker; a clock that jumps ends the wait. */
    private long retryPauseNanos() {
        long sinceNanos = clock.getAsLong() - lastFailureNanos;
        return lastAttemptFailed && sinceNanos >= 0 ? Math.max(0, RETRY_NANOS - sinceNanos) : 0;
    }

    /**
     * A log that cannot grow is worth a checkpoint at any size, as long as it holds segments that the next two would make
     * free: else it would stay full for good, whatever is trimmed and deleted.
     */
    private boolean due() {
        long applied = gates.applied().position();
        return applied >= dueAtLsn
                || provisioner.logStarved() && logGeometry.segmentOf(applied) > provisioner.neededLogSegment();
    }

    private @Nullable Request nextRequest() {
        state.lock.lock();
        try {
            return requests.poll();
        } finally {
            state.lock.unlock();
        }
    }

    /** How much log a recovery would replay, about. */
    long logBytesSince() {
        return Math.max(0, gates.applied().position() - newest.header().startLsn());
    }

    /** Publishes a checkpoint. On the checkpointer's thread only. */
    void publish() throws IOException {
        long startNanos = clock.getAsLong();
        Start start = whereSpaceIs(begin());
        try {
            gates.applied().await(start.tail());
            forceHeap();
            writeAndPublish(start);
        } catch (IOException | RuntimeException failed) {
            countFailure();
            throw failed;
        }
        state.lock.lock();
        try {
            state.counters.checkpoints++;
            state.counters.lastCheckpointNanos = clock.getAsLong() - startNanos;
        } finally {
            state.lock.unlock();
        }
    }

    /** What is noted first: where replay starts, what must be applied before, and the heap's size. */
    private record Start(long lsn, long previousLsn, long tail, int heapSegments) {}

    private Start begin() {
        state.lock.lock();
        try {
            space.releaseTrailing();
            peakHeapSegments = Math.max(peakHeapSegments, space.takePeakSegments());
            provisioner.keepHeap(peakHeapSegments);
            return new Start(queue.replayStart(), queue.lastSealedLsn(), queue.tail(), space.segments());
        } finally {
            state.lock.unlock();
        }
    }

    /**
     * A checkpoint must not start in a segment that has no space yet; then it starts at the last frame, so that even a log
     * that is full to its last byte can be recycled.
     */
    private Start whereSpaceIs(Start start) throws IOException {
        if (logGeometry.segmentOf(start.lsn()) <= provisioner.lastReadySegment()) {
            return start;
        }
        long lastFrame = start.previousLsn();
        if (lastFrame < newest.header().startLsn()) {
            throw new IOException("the log segment that replay would start in has no space yet");
        }
        return new Start(lastFrame, log.previousLsn(lastFrame), start.tail(), start.heapSegments());
    }

    private void forceHeap() throws IOException {
        LogFirst logFirst = new LogFirst(state, queue, gates.applied(), floorBytes);
        try {
            heapFile.force(logFirst::afterForcing);
        } catch (IOException failed) {
            failStore.accept(failed);
            throw failed;
        }
    }

    private void writeAndPublish(Start start) throws IOException {
        long number = newest.header().number() + 1;
        try (CheckpointWriter writer = new CheckpointWriter(storage, number)) {
            long endLsn = start.lsn();
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                endLsn = Math.max(endLsn, capture.capture(partition, writer));
            }
            awaitForced(endLsn);
            CheckpointHeader header = new CheckpointHeader(
                    number,
                    storeId,
                    start.lsn(),
                    endLsn,
                    start.previousLsn(),
                    writer.lists(),
                    writer.entries(),
                    logGeometry.segmentBytes(),
                    heapFile.geometry().segmentBytes(),
                    start.heapSegments(),
                    ListIndex.PARTITIONS);
            writer.publish(header);
            published(header, writer.bytes());
        }
    }

    /** Returns when everything accepted so far is forced. On the checkpointer's thread only. */
    void forceLog() {
        long lsn;
        state.lock.lock();
        try {
            lsn = queue.nextLsn();
        } finally {
            state.lock.unlock();
        }
        awaitForced(lsn);
    }

    private void awaitForced(long lsn) {
        state.lock.lock();
        try {
            if (gates.forced().position() < lsn) {
                queue.requireForce();
            }
        } finally {
            state.lock.unlock();
        }
        gates.forced().await(lsn);
    }

    private void published(CheckpointHeader header, long fileBytes) throws IOException {
        long neededLogSegment = logGeometry.segmentOf(newest.header().startLsn());
        newest = new Published(header, fileBytes);
        dueAtLsn = dueAt();
        kept.add(header.number());
        while (kept.size() > 2) {
            storage.delete(FileNames.CHECKPOINT.of(kept.get(0)));
            kept.remove(0);
        }
        storage.forceDirectory();
        // Last, so that no crash leaves a checkpoint whose log or heap segments are gone.
        provisioner.release(neededLogSegment, peakHeapSegments);
        peakHeapSegments = header.heapSegments();
    }

    private void countFailure() {
        state.lock.lock();
        try {
            state.counters.failures++;
        } finally {
            state.lock.unlock();
        }
    }

    /** Numbers of the checkpoints kept, oldest first. On the checkpointer's thread only. */
    List<Long> kept() {
        return List.copyOf(kept);
    }

    /** Whether anything has changed since the newest checkpoint. Under the lock. */
    boolean upToDate() {
        return queue.nextLsn() == newest.header().startLsn();
    }
}
