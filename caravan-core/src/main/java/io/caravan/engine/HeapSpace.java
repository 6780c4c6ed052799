package io.caravan.engine;

import io.caravan.OutOfSpaceException;
import io.caravan.collections.LongQueue;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Manages the space of the heap: admits entries that may have to move to the heap, allocates regions for them, and
 * frees the regions of trimmed entries. Called under the store's lock.
 *
 * <p>A trimmed region is freed only when the trim is fsynced and no reader pins it. Data that a crash could restore is
 * therefore never counted as free, and no region is overwritten while it is read. The place is reused only after the
 * next checkpoint; see {@link PendingFrees}.
 */
final class HeapSpace {
    /** Number of regions freed at a time, small enough that the lock is held for well under 0.1 ms. */
    private static final int SLICE = 256;

    /** The largest part of the heap that only writes with {@link Reserve#DELETIONS} may use. */
    private static final long MAX_RESERVE_BYTES = 1 << 20;
    /** The number by which the size of the heap is divided to obtain this reserve, if that is less. */
    private static final int RESERVE_SHARE = 64;

    private final StoreState state;
    private final HeapGeometry geometry;
    private final long maxHeapBytes;
    /**
     * The queue of trims whose regions are waiting to be freed, in the order of the log. Each trim takes three longs:
     * the list, the first sequence to keep, and the LSN of the trim, which must be fsynced before the regions are
     * freed.
     */
    private final LongQueue reclaims = new LongQueue();

    private final PendingFrees freed;
    private int segments;
    /** The number of bytes that have disk space, counted from the start of each segment. */
    private int[] filled;
    /** Number of bytes that have no disk space yet, in all segments that are in use. */
    private long unfilledBytes;
    /** Number of heap bytes that are allocated for entries that are still in the log. */
    private long survivorBytes;
    /** The reason why the last move to the heap found no space, or null. */
    private @Nullable String problem;
    /** The reason why the last checkpoint failed, or null. */
    private @Nullable String checkpointProblem;
    /** Whether a write is waiting for the next checkpoint, or for the checkpoint in progress. */
    private volatile boolean checkpointWanted;
    /** Whether a checkpoint is in progress, which pins the entries that it moves to the heap. */
    private boolean checkpointing;

    HeapSpace(StoreState state, PendingFrees freed) {
        this.state = state;
        this.freed = freed;
        this.geometry = state.heapFile.geometry();
        this.segments = state.heapFile.segmentCount();
        this.maxHeapBytes = state.config.maxHeapBytes();
        this.filled = new int[segments];
        for (int segment = 0; segment < segments; segment++) {
            // The store does not record how much disk space was allocated, so the file may have none after its last
            // entry.
            long unfilled = state.heap.removeFreeEnd((segment + 1L) * geometry.segmentBytes());
            filled[segment] = (int) (geometry.usableBytes() - unfilled);
            unfilledBytes += unfilled;
        }
    }

    /**
     * Waits until the heap has space for the entry in case it survives, or rejects the write. Every untrimmed entry in
     * the log may have to move to the heap, and therefore counts as an entry of the heap. Returns whether the entry was
     * admitted without waiting.
     *
     * @param reserve the reserved space that the write may use
     */
    boolean admit(long bytes, Reserve reserve, boolean mayWait) {
        if (hasRoomFor(bytes, reserve)) {
            return true;
        }
        if (reclaimSlice()) {
            // The store may be writable now, and only the flusher runs the actions that wait until it is.
            state.wakes.flusher().run();
            // Waiting threads take the lock between two slices.
            state.lock.unlock();
            state.lock.lock();
            state.checkWritable();
        } else {
            makeRoom(bytes, maxUsableBytes(reserve), mayWait);
        }
        return false;
    }

    private boolean hasRoomFor(long bytes, Reserve reserve) {
        return (problem == null || reserve == Reserve.DELETIONS)
                && usedBytes() + freed.bytes() + bytes <= maxUsableBytes(reserve);
    }

    /** Returns the total size of the entries in the heap and of those that may have to move there from the log. */
    long usedBytes() {
        return state.heap.usedBytes() - freed.bytes() + state.index.logBytes() - survivorBytes;
    }

    private long maxUsableBytes(Reserve reserve) {
        long bytes = Math.max(segments, maxHeapBytes / geometry.segmentBytes()) * geometry.usableBytes();
        if (reserve == Reserve.DELETIONS) {
            return bytes;
        }
        // An empty store must accept the longest permitted value.
        long spare = bytes - EntryLayout.entryBytes(state.config.maxValueBytes());
        return bytes - Math.max(0, Math.min(spare, Math.min(MAX_RESERVE_BYTES, bytes / RESERVE_SHARE)));
    }

    private void makeRoom(long bytes, long maxBytes, boolean mayWait) {
        if (!reclaims.isEmpty()) {
            state.wakes.force().run();
        } else if (aCheckpointFrees(bytes, maxBytes)) {
            checkpointWanted = true;
            state.wakes.checkpointer().run();
        } else {
            throw new OutOfSpaceException(rejection(bytes, maxBytes));
        }
        state.awaitRoom(mayWait);
    }

    /**
     * Whether the end of the current or next checkpoint may free enough space, or show that no more space will be
     * freed.
     */
    private boolean aCheckpointFrees(long bytes, long maxBytes) {
        if (problem != null || checkpointProblem != null) {
            return false;
        }
        return usedBytes() + bytes <= maxBytes || checkpointing && state.index.awaitsPins();
    }

    private String rejection(long bytes, long maxBytes) {
        String use =
                state.name() + " has no space for " + bytes + " more bytes: " + (usedBytes() - state.index.logBytes())
                        + " bytes of its heap are used, " + state.index.logBytes()
                        + " bytes in the log wait to move there, and it"
                        + " may have " + maxBytes;
        if (problem != null) {
            return use + "; the entries that must move there find no space: " + problem + "; "
                    + Provisioner.advice(problem) + ", or trim or delete lists; appends resume by themselves";
        }
        if (usedBytes() + bytes > maxBytes) {
            return use + "; trim or delete lists, or allow it more; appends resume by themselves";
        }
        return use + "; " + freed.bytes()
                + " bytes of trimmed data can be used after the next checkpoint, and the last checkpoint failed: "
                + checkpointProblem + "; " + Provisioner.advice(String.valueOf(checkpointProblem))
                + "; appends resume by themselves";
    }

    /** Allocates a region for entries that move to the heap, or returns {@link IndexedHeap#NONE}. */
    long allocate(long bytes) {
        long address = bytes > geometry.usableBytes() ? IndexedHeap.NONE : state.heap.allocate((int) bytes);
        survivorBytes += address == IndexedHeap.NONE ? 0 : bytes;
        return address;
    }

    /** Records that an entry has moved to the region allocated for it. */
    void moved(long region) {
        survivorBytes -= Region.entryBytes(region);
    }

    /** Frees a region that was allocated for an entry but not used. */
    void freeUnused(long region) {
        moved(region);
        reuse(region);
    }

    boolean mayGrow() {
        return (segments + 1L) * geometry.segmentBytes() <= maxHeapBytes;
    }

    /** Makes the next heap segment available. The segment's file is new, or was used earlier. */
    void addSegment(boolean isNew) {
        if (segments == filled.length) {
            filled = Arrays.copyOf(filled, segments + 1);
        }
        filled[segments] = isNew ? 0 : filled[segments];
        if (filled[segments] > 0) {
            state.heap.addSpace(geometry.firstAddress(segments), filled[segments]);
        }
        unfilledBytes += unfilled(segments);
        segments++;
    }

    /** Returns the number of bytes, at the end of a segment, that have no disk space yet. */
    int unfilled(int segment) {
        return geometry.usableBytes() - filled[segment];
    }

    long unfilledBytes() {
        return unfilledBytes;
    }

    long unfilledAddress(int segment) {
        return geometry.firstAddress(segment) + filled[segment];
    }

    /** Records that this many more bytes of a segment have disk space. */
    void filled(int segment, int bytes) {
        state.heap.addSpace(unfilledAddress(segment), bytes);
        filled[segment] += bytes;
        unfilledBytes -= bytes;
    }

    /** Returns the size of the largest hole, as if the entire last segment had disk space. */
    long largestHoleBytes() {
        return Math.max(state.heap.largestHoleBytes(), segments == 0 ? 0 : unfilled(segments - 1));
    }

    /**
     * Returns the total size of the entries that may have to move to the heap, minus the heap's free and freed space;
     * at least 0.
     *
     * @param moreBytes bytes that appends may still add to the log
     */
    long shortage(long moreBytes) {
        long survivors = state.index.logBytes() - survivorBytes + moreBytes;
        return Math.max(0, survivors - state.heap.freeBytes() - freed.bytes());
    }

    /** Whether further checkpoints would free disk space or heap places. */
    boolean checkpointsMakeRoom(int countedSegments) {
        return hasFreed() || segments < countedSegments || mayReleaseTrailing();
    }

    boolean checkpointFailed() {
        return checkpointProblem != null;
    }

    /**
     * Records that all survivors have moved to the heap, or the reason why they have not. In the latter case, appends
     * are rejected.
     */
    void tenured(@Nullable String failure) {
        problem = failure;
        state.signalChange();
    }

    /** Whether a write is waiting for space that the next checkpoint frees. May be called without the lock. */
    boolean needsCheckpoint() {
        return checkpointWanted;
    }

    /** Whether freed places exist that only a checkpoint can make reusable. */
    boolean hasFreed() {
        return freed.bytes() > 0;
    }

    /** Records that the index is frozen for a checkpoint. The checkpoint does not refer to any place freed so far. */
    void indexFrozen() {
        freed.indexFrozen();
    }

    /**
     * Makes a bounded number of the freed places reusable to which the checkpoint of the last frozen index, now
     * published, does not refer. Returns whether more such places remain.
     */
    boolean reuseSlice() {
        for (int i = 0; i < SLICE && freed.hasUnnamed(); i++) {
            reuse(freed.takeUnnamed());
        }
        return freed.hasUnnamed();
    }

    /** Records that a checkpoint is about to pin lists. */
    void checkpointBegins() {
        checkpointing = true;
    }

    /**
     * Records that the checkpoint has unpinned its lists, and the reason if it has failed. Wakes the writes that wait
     * for the checkpoint.
     */
    void checkpointEnded(@Nullable String failure) {
        checkpointing = false;
        checkpointProblem = failure;
        checkpointWanted = false;
        state.signalChange();
        state.wakes.flusher().run();
        if (failure != null) {
            // The log may have taken the space that the checkpoint lacked, and must release this space.
            state.wakes.provisioner().run();
        }
    }

    /** Whether an append would probably find space, or be rejected, without waiting. */
    boolean writable() {
        return !checkpointWanted && (hasRoomFor(0, Reserve.FRONT) || reclaims.isEmpty());
    }

    /**
     * Requests the fsync for which the first queued trim waits, if any. If the trim waits for no fsync, the flusher
     * frees its regions without a request.
     */
    void requireReclaim() {
        if (!reclaims.isEmpty() && state.forced.position() <= reclaims.first(2)) {
            state.wakes.force().run();
        }
    }

    int segments() {
        return segments;
    }

    /**
     * Takes a bounded number of empty trailing segments out of use, but keeps one segment of free space for growth.
     * Returns whether more such segments remain.
     */
    boolean releaseTrailingSlice() {
        for (int i = 0; i < SLICE && mayReleaseTrailing(); i++) {
            int last = segments - 1;
            if (filled[last] > 0) {
                state.heap.removeFreeEnd(unfilledAddress(last));
            }
            unfilledBytes -= unfilled(last);
            segments = last;
        }
        return mayReleaseTrailing();
    }

    private boolean mayReleaseTrailing() {
        int last = segments - 1;
        return last > 0
                && state.heap.freeBytes() + unfilledBytes >= 2L * geometry.usableBytes()
                && (filled[last] == 0 || state.heap.isFree(geometry.firstAddress(last), filled[last]));
    }

    /** Queues the regions that a trim or delete removed, so that they are freed later. */
    void reclaimLater(int list, long to, long lsn) {
        state.index.queued(list);
        reclaims.add(list);
        reclaims.add(to);
        reclaims.add(lsn);
    }

    /**
     * Removes a pin. If trimmed entries waited for the removal of the pin, queues them for the flusher to free, and
     * wakes the flusher and writers that wait for space.
     */
    void unpin(Pin pin) {
        ListIndex index = state.index;
        try {
            if (index.unpin(pin)) {
                reclaimLater(pin.list(), index.first(pin.list()), index.lastLsn(pin.list()));
                state.signalChange();
                state.wakes.flusher().run();
            }
        } catch (RuntimeException | Error broken) {
            throw state.fail(broken);
        }
    }

    /** Frees a bounded number of queued regions. Returns whether it freed or dequeued anything. */
    boolean reclaimSlice() {
        int budget = SLICE;
        while (budget > 0 && !reclaims.isEmpty() && state.forced.position() > reclaims.first(2)) {
            int list = (int) reclaims.first(0);
            long before = state.index.firstStored(list);
            boolean more = state.index.reclaim(list, reclaims.first(1), budget, freed::add);
            budget -= (int) (state.index.firstStored(list) - before) + 1;
            if (!more) {
                reclaims.remove(3);
                state.index.unqueued(list);
            }
        }
        if (budget < SLICE) {
            state.signalChange();
        }
        return budget < SLICE;
    }

    private void reuse(long region) {
        state.heap.free(Region.address(region), Region.entryBytes(region));
    }
}
