package io.caravan.engine;

import io.caravan.collections.LongQueue;

/**
 * Trimmed lists whose regions wait to be freed: which list, up to which sequence, and the LSN of the trim, before whose
 * force nothing of it is freed. In the order of the log.
 */
final class ReclaimQueue {
    private static final int ENTRY_LONGS = 3;

    private final LongQueue longs = new LongQueue();

    boolean isEmpty() {
        return longs.isEmpty();
    }

    void add(int list, long to, long lsn) {
        longs.add(list);
        longs.add(to);
        longs.add(lsn);
    }

    int list() {
        return (int) longs.first(0);
    }

    long to() {
        return longs.first(1);
    }

    long lsn() {
        return longs.first(2);
    }

    void removeFirst() {
        longs.remove(ENTRY_LONGS);
    }
}
