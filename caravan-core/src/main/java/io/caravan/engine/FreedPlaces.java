package io.caravan.engine;

import io.caravan.collections.LongQueue;
import io.caravan.format.Region;
import java.util.function.LongConsumer;

/**
 * Places in the heap that trims and deletions have freed, and that nothing may take yet: the newest checkpoint still
 * names them. Should the log lose the frame that freed them, as when its last one rots, their entries are back, and must
 * be what they were. So a place is taken again only when a checkpoint of an index that no longer named it is published.
 *
 * <p>A place is one long, and neighbours that are freed one after the other, as those of a list mostly are, share one: so
 * this takes no more memory than the index had for the same entries. Guarded by the store's lock.
 */
public final class FreedPlaces {
    private static final int MAX_BYTES = Region.entryBytes(Region.pack(0, Region.MAX_LENGTH)) - Region.entryBytes(0);

    private final LongQueue places = new LongQueue();
    private long bytes;
    /** Count of the places that were here when the index was last frozen: the frozen index does not name them. */
    private long unnamed;

    /** Bytes of all places that are here. */
    long bytes() {
        return bytes;
    }

    /** Adds a place, which no region names any more. */
    void add(long region) {
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

    /** Heap segments start with a header, so places of two of them are no neighbours. */
    private static long joined(long before, long region) {
        int both = Region.entryBytes(before) + Region.entryBytes(region);
        return Region.pack(Region.address(before), both - Region.entryBytes(0));
    }

    /** The index, which names none of these places, is frozen for a checkpoint. */
    void indexFrozen() {
        unnamed = places.added();
    }

    /** Whether there are places that the index did not name when it was frozen last. */
    boolean hasUnnamed() {
        return places.removed() < unnamed;
    }

    /** Takes out a place that the index did not name when it was frozen last. */
    long takeUnnamed() {
        long place = places.first(0);
        places.remove(1);
        bytes -= Region.entryBytes(place);
        return place;
    }

    /** Calls the action with each place, as a region; neighbours as one. */
    void forEach(LongConsumer action) {
        places.forEach(action);
    }
}
