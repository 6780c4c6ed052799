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
 * Writes and retains checkpoints without stopping writes.
 *
 * <p>A checkpoint contains the index as of one LSN, and is made in five steps:
 * <ol>
 *   <li>Record where replay will start: at the first frame that is not sealed yet.
 *   <li>Wait until all earlier frames are fsynced. Evacuate their survivors to the heap, and fsync the heap ({@link
 *     LogEvacuation}).
 *   <li>Freeze the index, holding the lock for a moment, and write it without the lock.
 *   <li>Wait until the log is fsynced up to the LSN at which the index was frozen.
 *   <li>Fsync the file, rename it, and fsync the directory.
 * </ol>
 *
 * <p>The last two checkpoints are retained, as is the log from the start LSN of the older checkpoint. Used by the
 * checkpointer only, except where a method says otherwise.
 */
final class Checkpoints {
    /** Number of regions written to a checkpoint file at a time. */
    private static final int SLICE_LONGS = 1 << 10;

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final Consumer<IOException> logForceFailed;
    private final LogEvacuation tenuring;
    private final long[] slice = new long[SLICE_LONGS];
    private final List<Long> kept;
    private volatile CheckpointHeader newest;
    private long newestBytes;
    /** Number of heap segments to which the retained checkpoints refer. */
    private int countedHeapSegments;

    Checkpoints(
            StoreState state,
            CommitQueue queue,
            HeapSpace space,
            Provisioner provisioner,
            Consumer<IOException> logForceFailed,
            Recovered recovered) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.provisioner = provisioner;
        this.logForceFailed = logForceFailed;
        this.tenuring = new LogEvacuation(state, queue, space, provisioner);
        this.kept = new ArrayList<>(
                recovered.checkpoints().stream().map(CheckpointHeader::number).toList());
        this.newest = recovered.newest();
        this.newestBytes = recovered.newestBytes();
        this.countedHeapSegments = state.heapFile.segmentCount();
    }

    /** Returns the newest checkpoint. May be called on any thread. */
    CheckpointHeader newest() {
        return newest;
    }

    long newestBytes() {
        return newestBytes;
    }

    /** Returns the numbers of the retained checkpoints, oldest first. */
    List<Long> kept() {
        return List.copyOf(kept);
    }

    /** Whether the store has not changed since the newest checkpoint. */
    boolean upToDate() {
        return state.locked(() -> queue.nextLsn() == newest.startLsn());
    }

    boolean makeRoom() {
        return state.locked(() -> space.checkpointsMakeRoom(countedHeapSegments));
    }

    /** Whether a write is waiting for space that the next checkpoint frees. */
    boolean wanted() {
        return space.needsCheckpoint();
    }

    /**
     * Fsyncs the log, then writes and publishes a checkpoint.
     *
     * @throws LogEvacuation.ForceFailed if the fsync of the heap fails
     * @throws StoreFailedException if the fsync of the log fails, or if the store failed earlier and its index is
     *     therefore not trustworthy
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
        } catch (LogEvacuation.Unreadable kept) {
            // Waiting writes need not fail: freed space is reusable again, and every readable survivor has moved.
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
        } catch (LogEvacuation.ForceFailed failed) {
            throw failed;
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

    /** Waits until all writes accepted so far are fsynced. Called on the checkpointer's thread only. */
    void forceLog() {
        awaitForced(state.locked(() -> queue.nextLsn()));
    }

    private void forceUpTo(long lsn) {
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
            logForceFailed.accept(failed);
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

    private void published(CheckpointHeader header, long fileBytes) throws IOException {
        CheckpointHeader older = newest;
        newest = header;
        newestBytes = fileBytes;
        provisioner.published(fileBytes);
        state.inSlices(space::reuseSlice);
        kept.add(header.number());
        while (kept.size() > 2) {
            state.storage.delete(FileNames.CHECKPOINT.of(kept.get(0)));
            kept.remove(0);
        }
        state.storage.forceDirectory();
        // The segments are released last, so that no crash leaves a checkpoint without its log or heap segments.
        provisioner.release(state.geometry.segmentOf(older.startLsn()));
        countedHeapSegments = Math.max(older.heapSegments(), header.heapSegments());
        state.heapFile.dropFrom(provisioner.leasedHeapSegments(countedHeapSegments));
    }
}
