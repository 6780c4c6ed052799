package io.caravan.engine;

import io.caravan.collections.LongQueue;
import io.caravan.format.Region;

/**
 * Places in the heap that trims and deletions have freed, but that must not be reused yet because the newest checkpoint
 * still refers to them. If the log loses the frame that freed such a place, for example because it is the last frame
 * and is damaged, recovery restores the entry, so the bytes must be unchanged. A place is therefore reused only after a
 * checkpoint is published that no longer refers to it.
 *
 * <p>A place takes one long. Adjacent places that are freed one after the other share one long, and the entries of a
 * list usually are adjacent. The memory used is therefore at most the memory that the index used for the same entries.
 * Guarded by the store's lock.
 */
public final class PendingFrees {
    private static final int MAX_BYTES = Region.entryBytes(Region.pack(0, Region.MAX_LENGTH)) - Region.entryBytes(0);

    private final LongQueue places = new LongQueue();
    private long bytes;
    /** Number of places added before the index was last frozen, to which the frozen index does not refer. */
    private long unnamed;

    long bytes() {
        return bytes;
    }

    /** Adds a place to which the index no longer refers. Ignores an entry in the log. */
    void add(long region) {
        if (Region.isInLog(region)) {
            return;
        }
        bytes += Region.entryBytes(region);
        if (places.added() > Math.max(unnamed, places.removed()) && isBehind(places.last(), region)) {
            places.replaceLast(joined(places.last(), region));
        } else {
            places.add(region);
        }
    }

    private static boolean isBehind(long before, long region) {
        return Region.address(before) + Region.entryBytes(before) == Region.address(region)
                && Region.entryBytes(before) + Region.entryBytes(region) <= MAX_BYTES;
    }

    /**
     * Joins two adjacent places. Places in two segments are never adjacent, because heap segments start with a header.
     */
    private static long joined(long before, long region) {
        int both = Region.entryBytes(before) + Region.entryBytes(region);
        return Region.pack(Region.address(before), both - Region.entryBytes(0));
    }

    /** Records that the index, which refers to none of these places, is frozen for a checkpoint. */
    void indexFrozen() {
        unnamed = places.added();
    }

    /** Whether places remain to which the index did not refer when it was last frozen. */
    boolean hasUnnamed() {
        return places.removed() < unnamed;
    }

    /** Removes and returns a place to which the index did not refer when it was last frozen. */
    long takeUnnamed() {
        long place = places.first(0);
        places.remove(1);
        bytes -= Region.entryBytes(place);
        return place;
    }
}
