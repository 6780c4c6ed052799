package io.caravan.engine;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.FileNames;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes and keeps checkpoints, without stopping writes.
 *
 * <p>A checkpoint is fuzzy: (1) note where replay shall start, the first frame that is not sealed yet; (2) wait until
 * everything before it is applied, and force the heap; (3) capture the index partition by partition, each under the
 * lock for a moment and each noting the LSN it was captured at; (4) wait until the log is forced past the last capture;
 * (5) write, force, rename, force the directory. The last two checkpoints are kept, and the log back to the older one's
 * start. Used by the checkpointer only, but for what says otherwise.
 */
final class Checkpoints {

    /** A force of the heap has failed, which is final for the open store. */
    static final class HeapForceFailed extends IOException {
        private static final long serialVersionUID = 1L;

        private final IOException problem;

        HeapForceFailed(IOException problem) {
            super(problem);
            this.problem = problem;
        }

        IOException problem() {
            return problem;
        }
    }

    private final StoreState state;
    private final CommitQueue queue;
    private final FlushDemand demand;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final Flusher.Gates gates;
    private final Storage storage;
    private final HeapFile heapFile;
    private final LogSegments log;
    private final LogGeometry logGeometry;
    private final long storeId;
    private final long floorBytes;
    private final PartitionCapture capture;
    private final List<Long> kept;
    private volatile CheckpointHeader newest;
    private long newestBytes;
    private int peakHeapSegments;

    Checkpoints(
            StoreState state,
            CommitQueue queue,
            FlushDemand demand,
            HeapSpace space,
            Provisioner provisioner,
            Flusher.Gates gates,
            Storage storage,
            Recovered recovered,
            long floorBytes) {
        this.state = state;
        this.queue = queue;
        this.demand = demand;
        this.space = space;
        this.provisioner = provisioner;
        this.gates = gates;
        this.storage = storage;
        this.heapFile = recovered.heapFile();
        this.log = recovered.log();
        this.logGeometry = log.geometry();
        this.storeId = recovered.newest().storeId();
        this.floorBytes = floorBytes;
        this.capture = new PartitionCapture(state, queue, space);
        this.kept = new ArrayList<>(recovered.checkpoints());
        this.newest = recovered.newest();
        this.newestBytes = recovered.newestBytes();
    }

    /** The newest checkpoint; on any thread. */
    CheckpointHeader newest() {
        return newest;
    }

    /** File size of the newest checkpoint. */
    long newestBytes() {
        return newestBytes;
    }

    /** Numbers of the checkpoints kept, oldest first. */
    List<Long> kept() {
        return List.copyOf(kept);
    }

    /** Whether nothing has changed since the newest checkpoint. */
    boolean upToDate() {
        state.lock.lock();
        try {
            return queue.nextLsn() == newest.startLsn();
        } finally {
            state.lock.unlock();
        }
    }

    /**
     * Writes and publishes a checkpoint.
     *
     * @throws HeapForceFailed when the heap could not be forced
     */
    void publish() throws IOException {
        Start start = whereSpaceIs(begin());
        gates.applied().await(start.tail());
        forceHeap();
        writeAndPublish(start);
    }

    /** What is noted first: where replay starts, what must be applied before, and the heap's size. */
    private record Start(long lsn, long previousLsn, long tail, int heapSegments) {}

    private Start begin() {
        state.lock.lockForSlice();
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
     * A checkpoint must not start in a segment that has no space yet; then it starts at the last frame, so that even a
     * log that is full to its last byte can be recycled.
     */
    private Start whereSpaceIs(Start start) throws IOException {
        if (logGeometry.segmentOf(start.lsn()) <= provisioner.lastReadySegment()) {
            return start;
        }
        long lastFrame = start.previousLsn();
        if (lastFrame < newest.startLsn()) {
            throw new IOException("the log segment that replay would start in has no space yet");
        }
        return new Start(lastFrame, log.previousLsn(lastFrame), start.tail(), start.heapSegments());
    }

    private void forceHeap() throws IOException {
        LogFirst logFirst = new LogFirst(state, queue, gates.applied(), floorBytes);
        try {
            heapFile.force(logFirst::afterForcing);
        } catch (IOException failed) {
            throw new HeapForceFailed(failed);
        }
    }

    private void writeAndPublish(Start start) throws IOException {
        long number = newest.number() + 1;
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
                demand.requireForce();
            }
        } finally {
            state.lock.unlock();
        }
        gates.forced().await(lsn);
    }

    private void published(CheckpointHeader header, long fileBytes) throws IOException {
        long neededLogSegment = logGeometry.segmentOf(newest.startLsn());
        newest = header;
        newestBytes = fileBytes;
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
}
