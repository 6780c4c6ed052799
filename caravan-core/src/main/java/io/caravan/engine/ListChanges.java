package io.caravan.engine;

import io.caravan.index.ListIndex;

/**
 * What a record in the log's last frame does to the lists: noted in the index as soon as the record has its place, by
 * whoever writes it ({@link WritePath}) or repeats it ({@link ReplayPath}). Used under the store's lock.
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

    /** The list of a document, which this record begins if there is none. */
    int findOrCreate(long id, long lsn) {
        int found = state.index.find(id);
        return found == ListIndex.NONE ? state.index.create(id, lsn, 0) : found;
    }

    void append(int list, long region, int length, long lsn) {
        state.index.append(list, region, lsn);
        state.counters.appends++;
        state.counters.appendedBytes += length;
    }

    /** Returns the first sequence that is retained. */
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

    /** LSN of the last deletion, which a read of a missing list waits for. */
    long lastRemovalLsn() {
        return lastRemovalLsn;
    }
}
