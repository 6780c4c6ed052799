package io.caravan.engine;

import io.caravan.OutOfSpaceException;
import io.caravan.ValueTooLargeException;
import io.caravan.format.Region;
import io.caravan.heap.Heap;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import org.jspecify.annotations.Nullable;

/**
 * The heap's space as the write path sees it: allocating regions, freeing those of trimmed lists, growing and
 * shrinking. Everything here is called under the store's lock.
 *
 * <p>A trimmed region is freed only when the trim is forced and no reader has it pinned, so that it can be overwritten
 * only by a frame that follows, in the log, the frame that freed it, and never under a reader.
 */
final class HeapSpace {
    /** Regions freed at a time: well under a tenth of a millisecond under the lock. */
    private static final int SLICE = 256;

    private final StoreState state;
    private final FlushDemand demand;
    private final Runnable wakeProvisioner;
    private final LsnGate forced;
    private final HeapGeometry geometry;
    private final long maxHeapBytes;
    private final ReclaimQueue reclaims = new ReclaimQueue();
    private int segments;
    private int peakSegments;
    private boolean growthDemanded;
    /** Why the disk has no space for another segment, as far as is known. */
    private @Nullable String growthProblem;

    HeapSpace(
            StoreState state,
            FlushDemand demand,
            Runnable wakeProvisioner,
            LsnGate forced,
            HeapGeometry geometry,
            int segments,
            long maxHeapBytes) {
        this.state = state;
        this.demand = demand;
        this.wakeProvisioner = wakeProvisioner;
        this.forced = forced;
        this.geometry = geometry;
        this.segments = segments;
        this.peakSegments = segments;
        this.maxHeapBytes = maxHeapBytes;
    }

    /**
     * Allocates a region. Waits for the heap to grow if it can, and refuses if it cannot.
     *
     * @param mayWait whether the caller may wait
     */
    long allocate(int bytes, boolean mayWait) {
        state.checkWritable();
        while (true) {
            long address = state.heap.allocate(bytes);
            if (address != Heap.NONE) {
                growAhead();
                return address;
            }
            if (reclaimSlice()) {
                state.letOthersIn();
            } else {
                makeSpace(bytes, mayWait);
            }
        }
    }

    private void makeSpace(int bytes, boolean mayWait) {
        if (bytes > geometry.usableBytes()) {
            throw new ValueTooLargeException("an entry", bytes, geometry.usableBytes());
        }
        if (mayGrow() && growthProblem == null) {
            growthDemanded = true;
            wakeProvisioner.run();
        } else if (!reclaims.isEmpty()) {
            demand.requireForce();
        } else {
            throw new OutOfSpaceException(state.name() + " has no hole of " + bytes + " bytes: "
                    + state.heap.usedBytes() + " bytes of its heap are used and " + state.heap.freeBytes()
                    + " free, the largest hole has " + state.heap.largestHoleBytes() + "; "
                    + (mayGrow() ? growthProblem : "maxHeapBytes is " + maxHeapBytes)
                    + (state.heap.full()
                            ? "; it keeps no more holes, so close and open the store to free the rest"
                            : "")
                    + "; trim or delete lists, or make space; appends resume by themselves");
        }
        state.awaitRoom(mayWait);
    }

    private void growAhead() {
        if (wantsGrowth() && growthProblem == null) {
            wakeProvisioner.run();
        }
    }

    /**
     * Whether a segment should be made: a writer waits for it, or soon will. Free space in small holes does not count,
     * as the next value may not fit into any.
     */
    boolean wantsGrowth() {
        return mayGrow() && (growthDemanded || state.heap.freeBytes() < geometry.usableBytes() / 2 || !hasLargeHole());
    }

    private boolean hasLargeHole() {
        return state.heap.hasHoleAbove(geometry.usableBytes() / 8);
    }

    /** Whether an append would probably find space, or be refused, without waiting for the heap to grow. */
    boolean writable() {
        return !wantsGrowth() || growthProblem != null || !growthDemanded && hasLargeHole();
    }

    private boolean mayGrow() {
        return (segments + 1L) * geometry.segmentBytes() <= maxHeapBytes;
    }

    /** Frees a region that was allocated and never used. */
    void giveBack(long address, int bytes) {
        state.heap.free(address, bytes);
    }

    /** Makes the next segment's address space available. */
    void addSegment() {
        state.heap.addSpace(geometry.firstAddress(segments), geometry.usableBytes());
        segments++;
        growthDemanded = false;
        peakSegments = Math.max(peakSegments, segments);
        state.changed.signalAll();
    }

    /** Notes why the disk has no space for another segment; null when it has, or nobody has asked it for more. */
    void growthProblem(@Nullable String problem) {
        growthProblem = problem;
    }

    int segments() {
        return segments;
    }

    /** Takes trailing segments out of use that have nothing in them, except for one to grow into. */
    void releaseTrailing() {
        while (segments > 1
                && state.heap.freeBytes() >= 2L * geometry.usableBytes()
                && state.heap.removeSpace(geometry.firstAddress(segments - 1), geometry.usableBytes())) {
            segments--;
        }
    }

    /** The most segments that were in use since the last call. */
    int takePeakSegments() {
        int peak = peakSegments;
        peakSegments = segments;
        return peak;
    }

    /** Queues what a trim or delete dropped. */
    void reclaimLater(int list, long to, long lsn) {
        state.index.queued(list);
        reclaims.add(list, to, lsn);
    }

    /** Removes a reader's pin, and queues what waited for it. */
    void unpin(Pin pin) {
        ListIndex index = state.index;
        if (index.unpin(pin)) {
            reclaimLater(pin.list(), index.first(pin.list()), index.lastLsn(pin.list()));
        }
    }

    /** Frees a bounded number of regions. Returns whether anything was done. */
    boolean reclaimSlice() {
        int budget = SLICE;
        while (budget > 0 && !reclaims.isEmpty() && forced.position() > reclaims.lsn()) {
            int list = reclaims.list();
            long before = state.index.held(list);
            boolean more = state.index.reclaim(list, reclaims.to(), budget, this::freeRegion);
            budget -= (int) (state.index.held(list) - before) + 1;
            if (!more) {
                reclaims.removeFirst();
                state.index.unqueued(list);
            }
        }
        if (budget < SLICE) {
            state.changed.signalAll();
        }
        return budget < SLICE;
    }

    private void freeRegion(long region) {
        state.heap.free(Region.address(region), Region.entryBytes(region));
    }
}
