package io.caravan.engine;

import io.caravan.StoreLayout;
import io.caravan.StoreLayout.HeapSegment;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Reports how the store's data is laid out on disk. It walks through the heap's holes and the pinned entries, and takes
 * the lock for one small step at a time. An instance makes one survey.
 */
final class LayoutSurvey {
    /** Maximum numbers of pinned lists, and of their entries, that the survey visits. */
    private static final int MAX_PINNED_LISTS = 256;

    private static final int MAX_PINNED_ENTRIES = 1 << 18;
    /** Number of regions copied each time the lock is held. */
    private static final int SLICE = 512;

    private final StoreState state;
    private final HeapSpace space;
    private final HeapGeometry geometry;
    private final long[] freeBytes;
    private final long[] holes;
    private final long[] largest;
    private final long[] pinnedBytes;
    /** Segments whose part without disk space was counted together with the preceding hole. */
    private final BitSet endSeen = new BitSet();

    private boolean pinsComplete = true;

    LayoutSurvey(StoreState state, HeapSpace space) {
        this.state = state;
        this.space = space;
        this.geometry = state.heapFile.geometry();
        int segments = state.locked(space::segments);
        this.freeBytes = new long[segments];
        this.holes = new long[segments];
        this.largest = new long[segments];
        this.pinnedBytes = new long[segments];
    }

    /** Runs the survey on this thread, which must be allowed to wait for the lock. */
    StoreLayout run(Provisioner provisioner, Checkpointer checkpointer) {
        walkHoles();
        walkPins();
        StoreLayout.Log logLayout = new StoreLayout.Log(
                state.geometry.segmentBytes(),
                provisioner.neededLogSegment(),
                provisioner.currentSegment(),
                provisioner.lastReadySegment(),
                checkpointer.logBytesSince(),
                checkpointer.logBytesAtNext(),
                state.locked(state.index::logBytes));
        return new StoreLayout(logLayout, segments(), pinsComplete);
    }

    private void walkHoles() {
        long position = 0;
        do {
            long from = position;
            position = state.slice(() -> state.heap.visitHoles(from, this::countHole));
        } while (position != 0);
        for (int segment = 0; segment < freeBytes.length; segment++) {
            int number = segment;
            state.locked(() -> countUnfilled(number));
        }
    }

    /**
     * Counts the part of a segment that has no disk space yet. This part is free, and forms one hole with any free
     * space directly before it.
     */
    private void countUnfilled(int segment) {
        if (segment < space.segments() && space.unfilled(segment) > 0 && !endSeen.get(segment)) {
            count(segment, space.unfilled(segment));
        }
    }

    private void countHole(long address, long bytes) {
        int segment = geometry.segmentOf(address);
        if (segment < Math.min(freeBytes.length, space.segments())) {
            boolean isEnd = address + bytes == space.unfilledAddress(segment);
            endSeen.set(segment, endSeen.get(segment) || isEnd);
            count(segment, bytes + (isEnd ? space.unfilled(segment) : 0));
        }
    }

    private void count(int segment, long bytes) {
        // Holes that merge or move during the walk may be visited twice.
        freeBytes[segment] = Math.min(geometry.usableBytes(), freeBytes[segment] + bytes);
        holes[segment]++;
        largest[segment] = Math.max(largest[segment], bytes);
    }

    private void walkPins() {
        List<Pin> own = pinWithReaders();
        int left = MAX_PINNED_ENTRIES;
        for (Pin pin : own) {
            try {
                left -= countPinned(pin, left);
            } finally {
                state.locked(() -> space.unpin(pin));
            }
        }
    }

    /** Pins the entries that readers have pinned, so that these entries are not freed during the survey. */
    private List<Pin> pinWithReaders() {
        List<Pin> own = new ArrayList<>();
        ListIndex index = state.index;
        int next = state.slice(() ->
                index.visitPinned(0, MAX_PINNED_LISTS, list -> own.add(index.pin(list, index.firstPinned(list)))));
        pinsComplete = next == ListIndex.NONE;
        return own;
    }

    /** Counts the heap bytes of pinned entries. Returns the number of entries visited. */
    private int countPinned(Pin pin, int most) {
        long from = pin.from();
        // Entries from this sequence on are in the log, not in the heap.
        long to = state.locked(() -> state.index.tenured(pin.list()));
        long end = Math.min(to, from + most);
        pinsComplete &= end == to || to <= from;
        long[] regions = new long[SLICE];
        ListCursor cursor = new ListCursor();
        for (long next = from; next < end; next += SLICE) {
            int count = (int) Math.min(SLICE, end - next);
            state.copyRegions(pin.list(), next, cursor, regions, count);
            for (int i = 0; i < count; i++) {
                countPinned(regions[i]);
            }
        }
        return (int) Math.max(0, end - from);
    }

    private void countPinned(long region) {
        if (!Region.isInLog(region)) {
            int segment = geometry.segmentOf(Region.address(region));
            if (segment < pinnedBytes.length) {
                pinnedBytes[segment] += Region.entryBytes(region);
            }
        }
    }

    private List<HeapSegment> segments() {
        return IntStream.range(0, freeBytes.length)
                .mapToObj(number -> new HeapSegment(
                        number,
                        geometry.usableBytes(),
                        freeBytes[number],
                        holes[number],
                        largest[number],
                        Math.min(pinnedBytes[number], geometry.usableBytes() - freeBytes[number])))
                .toList();
    }
}
