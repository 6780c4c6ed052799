package io.caravan.engine;

import io.caravan.StoreFailedException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.Region;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes and keeps checkpoints, without stopping writes.
 *
 * <p>A checkpoint is the index at one LSN: (1) note where replay is to start, the first frame that is not sealed yet;
 * (2) wait until everything before it is forced, and move what survives of it to the heap, which is forced
 * ({@link Tenuring}); (3) freeze the index, under the lock for a moment, and write it without the lock; (4) wait until
 * the log is forced up to where it was frozen; (5) force, rename, force the directory. The last two checkpoints are
 * kept, and the log back to the older one's start. Used by the checkpointer only, but for what says otherwise.
 */
final class Checkpoints {
    /** Regions that are handed to the file at a time. */
    private static final int SLICE_LONGS = 1 << 10;

    private final StoreState state;
    private final CommitQueue queue;
    private final FlushDemand demand;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final DiskReserve reserve;
    private final Consumer<IOException> logForceFailed;
    private final Tenuring tenuring;
    private final long[] slice = new long[SLICE_LONGS];
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
            Consumer<IOException> logForceFailed,
            Recovered recovered) {
        this.state = state;
        this.queue = queue;
        this.demand = demand;
        this.space = space;
        this.provisioner = provisioner;
        this.reserve = reserve;
        this.logForceFailed = logForceFailed;
        this.tenuring = new Tenuring(state, queue, space, reserve);
        this.kept = new ArrayList<>(recovered.checkpoints());
        this.newest = recovered.newest();
        this.newestBytes = recovered.newestBytes();
        this.countedHeapSegments = state.heapFile.segmentCount();
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
     * @throws StoreFailedException when the log could not, or the store has failed before: then its index is not to be
     *     trusted
     */
    void publish() throws IOException {
        StoreFailedException failedBefore = state.failure();
        if (failedBefore != null) {
            throw failedBefore;
        }
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
            String problem = failure;
            state.locked(() -> space.checkpointEnded(problem));
        }
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
                writeAndPublish(atLastStart(begun));
            }
            throw kept;
        } catch (IOException noRoom) {
            // One of an earlier format leaves frames in the log that may be in memory alone.
            if (newest.version() < FileHeader.NEWEST_VERSION || !state.locked(space::hasFreed)) {
                throw noRoom;
            }
            // What was trimmed may be room enough, and is free after a checkpoint that leaves the rest in the log.
            writeAndPublish(atLastStart(begun));
            tenuring.tenure(start.lsn());
        }
        provisioner.logKept(null);
        writeAndPublish(start);
    }

    /** A checkpoint that leaves the log as it is. */
    private Start atLastStart(Start begun) {
        return new Start(newest.startLsn(), newest.previous().lsn(), begun.tail());
    }

    /** What is noted first: where replay starts, and what must be forced before. */
    private record Start(long lsn, long previousLsn, long tail) {}

    private Start begin() {
        return state.slice(() -> {
            space.releaseTrailing();
            return new Start(queue.replayStart(), queue.lastSealedLsn(), queue.tail());
        });
    }

    /**
     * A checkpoint must not start in a segment that has no space yet; then it starts at the last frame, so that even a
     * log that is full to its last byte can be recycled.
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
            } catch (UncheckedIOException refused) {
                throw refused.getCause();
            } finally {
                state.locked(state.index::thaw);
            }
            forceUpTo(frozen.lsn());
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

    /** A frame from the one before the newest checkpoint's start on. */
    private Link linkOf(long lsn) throws IOException {
        return lsn == newest.previous().lsn() ? newest.previous() : state.log.link(lsn);
    }

    /** The index as every record before an LSN made it, and no later one. */
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
            writer.list(index.id(list), index.birth(list), first, next);
            ListCursor cursor = new ListCursor();
            index.seek(list, first, cursor);
            while (cursor.sequence() < next) {
                int count = (int) Math.min(slice.length, next - cursor.sequence());
                index.copyRegions(cursor, slice, 0, count);
                requireKept(index.id(list), count, startLsn, frozen.lsn());
                writer.regions(slice, 0, count);
            }
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    /** The log before the start will not be kept. An error, not an exception: it fails the store, whose log has everything. */
    private void requireKept(long id, int count, long startLsn, long frozenLsn) {
        for (int i = 0; i < count; i++) {
            if (Region.isInLog(slice[i]) && Region.entryLsn(slice[i], frozenLsn) < startLsn) {
                throw new AssertionError("document " + id + " has an entry in the log before LSN " + startLsn
                        + ", where the checkpoint starts; open the store again");
            }
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
        long written = state.committed.position();
        long next = state.forced.position();
        long segment = state.geometry.segmentOf(next);
        // What is written may end where the next segment begins, which need not be there.
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
            logForceFailed.accept(failed);
            // The flusher fails the store with it, and the position never comes to be forced.
            state.forced.await(Long.MAX_VALUE);
        }
    }

    private void awaitForced(long lsn) {
        state.locked(() -> {
            if (state.forced.position() < lsn) {
                demand.requireForce();
            }
        });
        state.forced.await(lsn);
    }

    private void published(CheckpointHeader header, long fileBytes) throws IOException {
        CheckpointHeader older = newest;
        newest = header;
        newestBytes = fileBytes;
        reserve.published(fileBytes);
        reuseFreed();
        kept.add(header.number());
        while (kept.size() > 2) {
            state.storage.delete(FileNames.CHECKPOINT.of(kept.get(0)));
            kept.remove(0);
        }
        state.storage.forceDirectory();
        // Last, so that no crash leaves a checkpoint whose log or heap segments are gone.
        provisioner.release(state.geometry.segmentOf(older.startLsn()));
        countedHeapSegments = Math.max(older.heapSegments(), header.heapSegments());
        state.heapFile.dropFrom(provisioner.leasedHeapSegments(countedHeapSegments));
    }

    private void reuseFreed() {
        boolean more = true;
        while (more) {
            more = state.slice(() -> space.reuseSlice());
        }
    }
}
