package io.caravan.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * Files that somebody copies, and that must stay for so long although no checkpoint needs them any more: log segments
 * from one on, and the first heap segments. Thread-safe.
 */
final class FileLeases {
    private final List<Lease> held = new ArrayList<>();

    /**
     * What one copy needs.
     *
     * @param logSegment the first log segment
     * @param heapSegments how many heap segments
     */
    record Lease(long logSegment, int heapSegments) {}

    synchronized Lease take(long logSegment, int heapSegments) {
        Lease lease = new Lease(logSegment, heapSegments);
        held.add(lease);
        return lease;
    }

    synchronized void giveBack(Lease lease) {
        held.remove(lease);
    }

    /** The first log segment that must stay, when checkpoints need those from this one on. */
    synchronized long firstLogSegment(long needed) {
        return held.stream().mapToLong(Lease::logSegment).reduce(needed, Math::min);
    }

    /** How many heap segments must stay, when checkpoints count on so many. */
    synchronized int heapSegments(int needed) {
        return held.stream().mapToInt(Lease::heapSegments).reduce(needed, Math::max);
    }
}
