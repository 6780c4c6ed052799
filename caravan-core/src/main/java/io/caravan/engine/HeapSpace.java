package io.caravan.engine;

import io.caravan.OutOfSpaceException;
import io.caravan.collections.LongQueue;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The heap's space: what is admitted because it may have to move there, the regions that do, and freeing those of
 * trimmed lists. Everything here is called under the store's lock.
 *
 * <p>A trimmed region is freed only when the trim is forced and no reader has it pinned: so nothing that a crash could
 * bring back is counted as gone, and nothing is overwritten under a reader. Its place is taken again only after the next
 * checkpoint, see {@link FreedPlaces}.
 */
final class HeapSpace {
    /** Regions freed at a time: well under a tenth of a millisecond under the lock. */
    private static final int SLICE = 256;

    private final StoreState state;
    private final FlushDemand demand;
    private final HeapGeometry geometry;
    private final long maxHeapBytes;
    /**
     * Lists with trimmed regions that wait to be freed, in the order of the log: three longs each, the list, the sequence
     * up to which, and the LSN of the trim, before whose force nothing of it is freed.
     */
    private final LongQueue reclaims = new LongQueue();

    private final FreedPlaces freed;
    private int segments;
    /** Bytes of each segment, from its first address on, that have disk space, and so belong to the heap. */
    private int[] filled;
    /** Bytes of the segments in use that have none yet. */
    private long unfilledBytes;
    /** Bytes that are allocated for entries that are still in the log. */
    private long movingBytes;
    /** Why the heap could not take what had to move there, the last time. */
    private @Nullable String problem;
    /** Why the last checkpoint failed. */
    private @Nullable String checkpointProblem;
    /** Whether a write waits for the next checkpoint, or for the one under way. */
    private volatile boolean checkpointWanted;
    /** Whether a checkpoint is under way, which pins what it moves to the heap. */
    private boolean checkpointing;

    HeapSpace(StoreState state, FlushDemand demand, FreedPlaces freed) {
        this.state = state;
        this.demand = demand;
        this.freed = freed;
        this.geometry = state.heapFile.geometry();
        this.segments = state.heapFile.segmentCount();
        this.maxHeapBytes = state.config.maxHeapBytes();
        this.filled = new int[segments];
        for (int segment = 0; segment < segments; segment++) {
            // Behind the last entry a file may have no disk space: nothing says how far it was filled before.
            long unfilled = state.heap.removeFreeEnd((segment + 1L) * geometry.segmentBytes());
            filled[segment] = (int) (geometry.usableBytes() - unfilled);
            unfilledBytes += unfilled;
        }
    }

    /**
     * Waits until the heap will have room for an entry that survives, or refuses the write. Everything that is in the log
     * and not trimmed may have to move to the heap, so it counts as if it were there.
     *
     * @param mayWait whether the caller may wait
     * @return whether it did not have to wait
     */
    boolean admit(long bytes, boolean mayWait) {
        if (hasRoomFor(bytes)) {
            return true;
        }
        if (reclaimSlice()) {
            state.letOthersIn();
        } else {
            makeRoom(bytes, mayWait);
        }
        return false;
    }

    private boolean hasRoomFor(long bytes) {
        return problem == null && usedBytes() + freed.bytes() + bytes <= maxUsableBytes();
    }

    /** Bytes of entries in the heap, and of those in the log that may have to move there. */
    long usedBytes() {
        return state.heap.usedBytes() - freed.bytes() + state.index.logBytes() - movingBytes;
    }

    /** Bytes of entries in the log that may have to move to the heap. */
    long movingBytes() {
        return state.index.logBytes();
    }

    private long maxUsableBytes() {
        return Math.max(segments, maxHeapBytes / geometry.segmentBytes()) * geometry.usableBytes();
    }

    private void makeRoom(long bytes, boolean mayWait) {
        if (!reclaims.isEmpty()) {
            demand.requireForce();
        } else if (aCheckpointFrees(bytes)) {
            checkpointWanted = true;
            state.wakes.checkpointer().run();
        } else {
            throw new OutOfSpaceException(refusal(bytes));
        }
        state.awaitRoom(mayWait);
    }

    /** Whether the end of the next checkpoint, or of the one under way, makes room, or shows that there is none. */
    private boolean aCheckpointFrees(long bytes) {
        if (problem != null || checkpointProblem != null) {
            return false;
        }
        return usedBytes() + bytes <= maxUsableBytes() || checkpointing && state.index.awaitsPins();
    }

    private String refusal(long bytes) {
        String use =
                state.name() + " has no room for " + bytes + " bytes more: " + (usedBytes() - state.index.logBytes())
                        + " bytes of its heap are used, " + state.index.logBytes()
                        + " bytes in the log wait to move there, and it"
                        + " may have " + maxUsableBytes();
        if (problem != null) {
            return use + "; what is to move there finds no room: " + problem + "; " + Remedy.of(problem)
                    + ", or trim or delete lists; appends resume by themselves";
        }
        if (usedBytes() + bytes > maxUsableBytes()) {
            return use + "; trim or delete lists, or allow it more; appends resume by themselves";
        }
        return use + "; " + freed.bytes()
                + " bytes of what was trimmed can be used after the next checkpoint, and the last" + " one failed: "
                + checkpointProblem + "; " + Remedy.of(String.valueOf(checkpointProblem))
                + "; appends resume by themselves";
    }

    /** Allocates a region for entries that move to the heap, or returns {@link IndexedHeap#NONE}. */
    long allocate(long bytes) {
        long address = bytes > geometry.usableBytes() ? IndexedHeap.NONE : state.heap.allocate((int) bytes);
        movingBytes += address == IndexedHeap.NONE ? 0 : bytes;
        return address;
    }

    /** An entry has moved to the region that was allocated for it. */
    void moved(long region) {
        movingBytes -= Region.entryBytes(region);
    }

    /** Frees a region that was allocated for an entry which has not moved there. */
    void giveBack(long region) {
        moved(region);
        reuse(region);
    }

    /** Whether the heap may have another segment. */
    boolean mayGrow() {
        return (segments + 1L) * geometry.segmentBytes() <= maxHeapBytes;
    }

    /** Makes the next segment available, whose file is new or was not needed for a while. */
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

    /** Bytes at the end of a segment that have no disk space yet. */
    int unfilled(int segment) {
        return geometry.usableBytes() - filled[segment];
    }

    /** The same of all segments together. */
    long unfilledBytes() {
        return unfilledBytes;
    }

    /** Where a segment's part without disk space starts. */
    long unfilledAddress(int segment) {
        return geometry.firstAddress(segment) + filled[segment];
    }

    /** So many bytes more of a segment have disk space. */
    void filled(int segment, int bytes) {
        state.heap.extendSpace(unfilledAddress(segment), bytes);
        filled[segment] += bytes;
        unfilledBytes -= bytes;
    }

    /** Bytes of the largest hole, if the last segment were filled. */
    long largestHoleBytes() {
        return Math.max(state.heap.largestHoleBytes(), segments == 0 ? 0 : unfilled(segments - 1));
    }

    /**
     * How many bytes of entries the log may have to hand over, and find no place in the heap as it is.
     *
     * @param moreBytes what appends may still add to the log
     */
    long shortage(long moreBytes) {
        long survivors = state.index.logBytes() - movingBytes + moreBytes;
        return Math.max(0, survivors - state.heap.freeBytes() - freed.bytes());
    }

    /** Whether further checkpoints would give disk space back, or make places free. */
    boolean checkpointsMakeRoom(int countedSegments) {
        return hasFreed() || segments < countedSegments || mayReleaseTrailing();
    }

    /** Whether the last checkpoint failed. */
    boolean checkpointFailed() {
        return checkpointProblem != null;
    }

    /** What had to move to the heap has, or found no room, for this reason: then appends are refused. */
    void tenured(@Nullable String failure) {
        problem = failure;
        state.changed.signalAll();
    }

    /** Whether a write waits for the next checkpoint, because what was freed since the last would be room enough. */
    boolean wantsCheckpoint() {
        return checkpointWanted;
    }

    /** Whether there are places that only a checkpoint can make free. */
    boolean hasFreed() {
        return freed.bytes() > 0;
    }

    /** The index is frozen for a checkpoint, which names no place that is freed by now. */
    void indexFrozen() {
        freed.indexFrozen();
    }

    /**
     * A checkpoint of the index as it was frozen last is published: makes a bounded number of the places free that it does
     * not name.
     *
     * @return whether there are more
     */
    boolean reuseSlice() {
        for (int i = 0; i < SLICE && freed.hasUnnamed(); i++) {
            reuse(freed.takeUnnamed());
        }
        return freed.hasUnnamed();
    }

    /** A checkpoint is about to pin lists. */
    void checkpointBegins() {
        checkpointing = true;
    }

    /** It has let go of them, and has succeeded, or failed for this reason; whoever waits for it looks again. */
    void checkpointEnded(@Nullable String failure) {
        checkpointing = false;
        checkpointProblem = failure;
        checkpointWanted = false;
        state.changed.signalAll();
        demand.wakeFlusher();
        if (failure != null) {
            // It may have been the log that took the space.
            state.wakes.provisioner().run();
        }
    }

    /** Whether an append would probably find room, or be refused, without waiting. */
    boolean writable() {
        return !checkpointWanted && (hasRoomFor(0) || reclaims.isEmpty());
    }

    int segments() {
        return segments;
    }

    /** Takes trailing segments out of use that have nothing in them, except for one to grow into. */
    void releaseTrailing() {
        while (mayReleaseTrailing()) {
            int last = segments - 1;
            if (filled[last] > 0) {
                state.heap.removeSpace(geometry.firstAddress(last), filled[last]);
            }
            unfilledBytes -= unfilled(last);
            segments = last;
        }
    }

    private boolean mayReleaseTrailing() {
        int last = segments - 1;
        return last > 0
                && state.heap.freeBytes() + unfilledBytes >= 2L * geometry.usableBytes()
                && (filled[last] == 0 || state.heap.isFree(geometry.firstAddress(last), filled[last]));
    }

    /** Queues what a trim or delete dropped. */
    void reclaimLater(int list, long to, long lsn) {
        state.index.queued(list);
        reclaims.add(list);
        reclaims.add(to);
        reclaims.add(lsn);
    }

    /** Removes a pin, has the flusher free the entries that waited for it, and wakes writers that wait for room. */
    void unpin(Pin pin) {
        ListIndex index = state.index;
        try {
            if (index.unpin(pin)) {
                reclaimLater(pin.list(), index.first(pin.list()), index.lastLsn(pin.list()));
                state.changed.signalAll();
                demand.wakeFlusher();
            }
        } catch (RuntimeException | Error broken) {
            demand.requireForce();
            throw state.fail(broken);
        }
    }

    /** Frees a bounded number of regions. Returns whether anything was done. */
    boolean reclaimSlice() {
        int budget = SLICE;
        while (budget > 0 && !reclaims.isEmpty() && state.forced.position() > reclaims.first(2)) {
            int list = (int) reclaims.first(0);
            long before = state.index.held(list);
            boolean more = state.index.reclaim(list, reclaims.first(1), budget, this::free);
            budget -= (int) (state.index.held(list) - before) + 1;
            if (!more) {
                reclaims.remove(3);
                state.index.unqueued(list);
            }
        }
        if (budget < SLICE) {
            state.changed.signalAll();
        }
        return budget < SLICE;
    }

    private void free(long region) {
        if (!Region.isInLog(region)) {
            freed.add(region);
        }
    }

    private void reuse(long region) {
        state.heap.free(Region.address(region), Region.entryBytes(region));
    }
}
