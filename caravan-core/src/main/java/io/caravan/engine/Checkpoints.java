package io.caravan.engine;

import io.caravan.StoreFailedException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.PartitionSnapshot;
import io.caravan.index.PartitionSnapshot.Kept;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes and keeps checkpoints, without stopping writes.
 *
 * <p>A checkpoint is fuzzy: (1) note where replay shall start, the first frame that is not sealed yet; (2) wait until
 * everything before it is forced, and move what survives of it to the heap, which is forced ({@link Tenuring}); (3)
 * capture the index partition by partition, each under the lock for a moment and each noting the LSN it was captured
 * at; (4) wait until the log is forced past the last capture; (5) write, force, rename, force the directory. The last
 * two checkpoints are kept, and the log back to the older one's start. Used by the checkpointer only, but for what says
 * otherwise.
 */
final class Checkpoints {

    private final StoreState state;
    private final CommitQueue queue;
    private final FlushDemand demand;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final DiskReserve reserve;
    private final FileLeases leases;
    private final Flusher.Gates gates;
    private final Consumer<IOException> logForceFailed;
    private final Storage storage;
    private final HeapFile heapFile;
    private final LogSegments log;
    private final LogGeometry logGeometry;
    private final long storeId;
    private final Tenuring tenuring;
    private final PartitionSnapshot snapshot;
    private final long[] slice = new long[PartitionSnapshot.SLICE_LONGS];
    private final List<Long> kept;
    private volatile CheckpointHeader newest;
    private long newestBytes;
    /** How many heap segments the checkpoints that are kept count on. */
    private int countedHeapSegments;

    Checkpoints(
            StoreState state,
            CommitQueue queue,
            FlushDemand demand,
            HeapSpace space,
            Provisioner provisioner,
            DiskReserve reserve,
            FileLeases leases,
            Flusher.Gates gates,
            Consumer<IOException> logForceFailed,
            Storage storage,
            Recovered recovered,
            long floorBytes) {
        this.state = state;
        this.queue = queue;
        this.demand = demand;
        this.space = space;
        this.provisioner = provisioner;
        this.reserve = reserve;
        this.leases = leases;
        this.gates = gates;
        this.logForceFailed = logForceFailed;
        this.storage = storage;
        this.heapFile = recovered.heapFile();
        this.log = recovered.log();
        this.logGeometry = log.geometry();
        this.storeId = recovered.newest().storeId();
        this.tenuring = new Tenuring(state, queue, space, reserve, gates.committed(), heapFile, log, floorBytes);
        this.snapshot = state.index.snapshot();
        this.kept = new ArrayList<>(recovered.checkpoints());
        this.newest = recovered.newest();
        this.newestBytes = recovered.newestBytes();
        this.countedHeapSegments = heapFile.segmentCount();
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
        return state.locked(() -> queue.nextLsn() == newest.startLsn());
    }

    /** Whether further checkpoints would give disk space back, or make places in the heap free. */
    boolean makeRoom() {
        return state.locked(() -> space.checkpointsMakeRoom(countedHeapSegments));
    }

    /** Whether a write waits for the next checkpoint. */
    boolean wanted() {
        return space.wantsCheckpoint();
    }

    /**
     * Forces the log, then writes and publishes a checkpoint.
     *
     * @throws Tenuring.ForceFailed when the heap could not be forced
     * @throws StoreFailedException when the log could not
     */
    void publish() throws IOException {
        String failure = null;
        state.locked(space::checkpointBegins);
        try {
            publishNext();
        } catch (Tenuring.Unreadable kept) {
            // It hinders nobody: what had been freed is free again, and what could be read has moved.
            throw kept;
        } catch (IOException | RuntimeException failed) {
            failure = String.valueOf(failed.getMessage());
            throw failed;
        } finally {
            ended(failure);
        }
    }

    private void ended(@Nullable String failure) {
        state.locked(() -> space.checkpointEnded(failure));
    }

    private void publishNext() throws IOException {
        Start begun = begin();
        forceUpTo(begun.tail());
        Start start = whereSpaceIs(begun);
        try {
            tenuring.tenure(start.lsn());
        } catch (Tenuring.ForceFailed failed) {
            throw failed;
        } catch (Tenuring.Unreadable kept) {
            provisioner.logKept(kept);
            if (state.locked(space::hasFreed)) {
                writeAndPublish(atLastStart(begun), heapSegments());
            }
            throw kept;
        } catch (IOException noRoom) {
            if (!state.locked(space::hasFreed)) {
                throw noRoom;
            }
            // What was trimmed may be room enough, and is free after a checkpoint that leaves the rest in the log.
            writeAndPublish(atLastStart(begun), heapSegments());
            tenuring.tenure(start.lsn());
        }
        provisioner.logKept(null);
        writeAndPublish(start, heapSegments());
    }

    /** A checkpoint that leaves the log as it is. */
    private Start atLastStart(Start begun) {
        return new Start(newest.startLsn(), newest.previousLsn(), begun.tail());
    }

    private int heapSegments() {
        return state.locked(() -> space.segments());
    }

    /** What is noted first: where replay starts, and what must be forced before. */
    private record Start(long lsn, long previousLsn, long tail) {}

    private Start begin() {
        state.lock.lockForSlice();
        try {
            space.releaseTrailing();
            return new Start(queue.replayStart(), queue.lastSealedLsn(), queue.tail());
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
        return new Start(lastFrame, log.previousLsn(lastFrame), start.tail());
    }

    private void writeAndPublish(Start start, int heapSegments) throws IOException {
        long number = newest.number() + 1;
        try (CheckpointWriter writer = new CheckpointWriter(storage, number)) {
            state.locked(space::beforeCapture);
            long endLsn = start.lsn();
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                endLsn = Math.max(endLsn, capture(partition, writer));
            }
            forceUpTo(endLsn);
            CheckpointHeader header = new CheckpointHeader(
                    FileHeader.NEWEST_VERSION,
                    number,
                    storeId,
                    start.lsn(),
                    endLsn,
                    start.previousLsn(),
                    writer.lists(),
                    writer.entries(),
                    logGeometry.segmentBytes(),
                    heapFile.geometry().segmentBytes(),
                    heapSegments,
                    ListIndex.PARTITIONS);
            writer.publish(header);
            published(header, writer.bytes());
        }
    }

    /**
     * Writes a partition of the index as it is at one moment: copies a {@link PartitionSnapshot} slice by slice under the
     * lock, and writes each slice outside it. Returns the LSN of that moment.
     */
    private long capture(int partition, CheckpointWriter writer) throws IOException {
        long captureLsn = startCapture(partition);
        try {
            writer.startPartition(partition, captureLsn);
            boolean more = true;
            while (more) {
                more = writeSlice(writer);
            }
            writer.endPartition();
            return captureLsn;
        } finally {
            dropKept();
        }
    }

    private long startCapture(int partition) {
        state.lock.lock();
        try {
            long lsn = queue.nextLsn();
            snapshot.start(partition, lsn);
            return lsn;
        } finally {
            state.lock.unlock();
        }
    }

    /** Writes the next lists, and then those that are kept. Returns whether there are more. */
    private boolean writeSlice(CheckpointWriter writer) throws IOException {
        int longs;
        int kept;
        boolean more;
        state.lock.lockForSlice();
        try {
            longs = snapshot.copySlice(slice);
            kept = snapshot.keptCount();
            more = snapshot.isWalking();
        } finally {
            state.lock.unlock();
        }
        writeCopied(longs, writer);
        for (int i = 0; i < kept; i++) {
            writeKept(writer);
        }
        return more;
    }

    private void writeCopied(int longs, CheckpointWriter writer) throws IOException {
        int at = 0;
        while (at < longs) {
            long first = slice[at + 2];
            long next = slice[at + 3];
            int count = (int) (next - first);
            writer.list(slice[at], slice[at + 1], first, next);
            writer.regions(slice, at + PartitionSnapshot.HEAD_LONGS, count);
            at += PartitionSnapshot.HEAD_LONGS + count;
        }
    }

    private void writeKept(CheckpointWriter writer) throws IOException {
        Kept list = takeKept();
        if (list == null) {
            return;
        }
        try {
            writer.list(list.id(), list.birth(), list.first(), list.next());
            ListCursor cursor = new ListCursor();
            for (long at = list.first(); at < list.next(); at = cursor.sequence()) {
                int count = (int) Math.min(slice.length, list.next() - at);
                state.copyRegions(list.pin().list(), at, cursor, slice, 0, count);
                writer.regions(slice, 0, count);
            }
        } finally {
            unpin(list);
        }
    }

    private @Nullable Kept takeKept() {
        return state.locked(() -> snapshot.takeKept());
    }

    private void unpin(Kept list) {
        state.locked(() -> space.unpin(list.pin()));
    }

    /** Lets go of what was not written because writing failed. */
    private void dropKept() {
        state.locked(() -> snapshot.stop());
        Kept list = takeKept();
        while (list != null) {
            unpin(list);
            list = takeKept();
        }
    }

    /** Returns when everything accepted so far is forced. On the checkpointer's thread only. */
    void forceLog() {
        awaitForced(state.locked(() -> queue.nextLsn()));
    }

    private void forceUpTo(long lsn) throws IOException {
        writeBack();
        awaitForced(lsn);
    }

    /**
     * Gives the disk what is written and not forced, which below {@code SYNC} may be all that was appended since the last
     * checkpoint. The force that counts is the flusher's, and whoever writes waits for it: now it finds little to do.
     * This one has a handle of its own, as Linux tells each handle once of what could not be written.
     */
    private void writeBack() throws IOException {
        long written = gates.committed().position();
        long next = gates.forced().position();
        long segment = logGeometry.segmentOf(next);
        // What is written may end where the next segment begins, which need not be there.
        while (next < written && log.ready(segment)) {
            try (StoreFile file = storage.open(FileNames.LOG.of(segment))) {
                force(file);
            }
            segment++;
            next = logGeometry.startOf(segment);
        }
    }

    private void force(StoreFile file) {
        try {
            file.force();
        } catch (IOException failed) {
            logForceFailed.accept(failed);
            // The flusher fails the store with it, and the position never comes to be forced.
            gates.forced().await(Long.MAX_VALUE);
        }
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
        CheckpointHeader older = newest;
        newest = header;
        newestBytes = fileBytes;
        reserve.published(fileBytes);
        reuseFreed();
        kept.add(header.number());
        while (kept.size() > 2) {
            storage.delete(FileNames.CHECKPOINT.of(kept.get(0)));
            kept.remove(0);
        }
        storage.forceDirectory();
        // Last, so that no crash leaves a checkpoint whose log or heap segments are gone.
        provisioner.release(logGeometry.segmentOf(older.startLsn()));
        countedHeapSegments = Math.max(older.heapSegments(), header.heapSegments());
        heapFile.dropFrom(leases.heapSegments(countedHeapSegments));
    }

    private void reuseFreed() {
        boolean more = true;
        while (more) {
            state.lock.lockForSlice();
            try {
                more = space.reuseSlice();
            } finally {
                state.lock.unlock();
            }
        }
    }
}
