package io.caravan.engine;

import io.caravan.index.ListIndex;

/**
 * Applies the records of the log's last frame to the lists. Each record is applied as soon as {@link WritePath} writes
 * it or {@link ReplayPath} replays it. Used under the store's lock.
 */
final class ListChanges {
    private static final long NEVER = -1;

    private final StoreState state;
    private final HeapSpace space;
    private long lastRemovalLsn = NEVER;

    ListChanges(StoreState state, HeapSpace space) {
        this.state = state;
        this.space = space;
    }

    /** Returns the list with this id. Creates it at this record's LSN if it does not exist. */
    int findOrCreate(long id, long lsn) {
        int found = state.index.find(id);
        return found == ListIndex.NONE ? state.index.create(id, lsn, 0) : found;
    }

    void append(int list, long region, int length, long lsn) {
        state.index.append(list, region, lsn);
        Counters.Writes writes = state.counters.writes(state.index.id(list));
        writes.appends++;
        writes.appendedBytes += length;
    }

    /** Trims a list. Returns the first retained sequence. */
    long trim(int list, long to, long lsn) {
        long first = state.index.trimTo(list, to, lsn);
        space.reclaimLater(list, first, lsn);
        return first;
    }

    void delete(int list, long lsn) {
        state.index.remove(list, lsn);
        space.reclaimLater(list, state.index.next(list), lsn);
        lastRemovalLsn = lsn;
    }

    /** Returns the LSN of the last deletion of a list. A read of a missing list waits until this LSN is committed. */
    long lastRemovalLsn() {
        return lastRemovalLsn;
    }
}
