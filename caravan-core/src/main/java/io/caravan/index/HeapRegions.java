package io.caravan.index;

import java.util.function.LongConsumer;

/** All places in the heap that an index names. */
public final class HeapRegions {
    /** Regions that are copied at a time. */
    private static final int SLICE = 512;

    private final ListIndex index;
    private final ListCursor cursor = new ListCursor();
    private final long[] slice = new long[SLICE];

    /** Those of an index that does not change meanwhile. */
    public HeapRegions(ListIndex index) {
        this.index = index;
    }

    /**
     * Calls the action with the regions of all entries in the heap, partition by partition. A checkpoint has the lists in
     * the same order, so those that were loaded from one are walked in the order of their memory.
     */
    public void forEach(LongConsumer action) {
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            index.forEachList(partition, list -> forEach(list, action));
        }
    }

    private void forEach(int list, LongConsumer action) {
        long left = index.tenured(list) - index.first(list);
        if (left > 0) {
            index.seek(list, index.first(list), cursor);
        }
        while (left > 0) {
            int count = (int) Math.min(left, SLICE);
            index.copyRegions(cursor, slice, 0, count);
            for (int i = 0; i < count; i++) {
                action.accept(slice[i]);
            }
            left -= count;
        }
    }
}
