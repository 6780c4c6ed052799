package io.caravan.index;

import io.caravan.collections.SlotTable;
import io.caravan.index.Pins.Pin;
import org.jspecify.annotations.Nullable;

/**
 * One partition of the index as it was at one moment, copied in slices of bounded size while the index goes on
 * changing. Guarded by the store's lock, as the index is.
 *
 * <p>A walk visits the partition step by step and copies what has not changed since. A list that is about to change
 * before the walk gets there, or is too long for a slice, is kept instead: pinned, so that its regions stay, and noted
 * with the sequences that it had. The LSN of its last change says whether a list has changed.
 */
public final class PartitionSnapshot {
    /** What a slice has of each list before its regions: id, birth, first and next sequence. */
    public static final int HEAD_LONGS = 4;

    /** Longs that a slice has room for: more than the heads of the lists of one step. */
    public static final int SLICE_LONGS = 1 << 13;

    /** Chunks that are looked at for the start of a list that is copied at once. */
    private static final int SEEK_CHUNKS = 4;

    /** No change is as old as this. */
    private static final long NOT_WALKING = Long.MIN_VALUE;

    private final ListIndex index;
    private final SlotTable table;
    private final ListCursor cursor = new ListCursor();
    private int partition;
    private long position;
    private long lsn = NOT_WALKING;
    /** A stack: it grows without copying. */
    private @Nullable Kept kept;

    private int keptCount;

    PartitionSnapshot(ListIndex index, SlotTable table) {
        this.index = index;
        this.table = table;
    }

    /**
     * Makes this a snapshot of the present moment.
     *
     * @param nextLsn every change so far has a lower LSN, and no later one has
     */
    public void start(int ofPartition, long nextLsn) {
        partition = ofPartition;
        position = table.startOf(ofPartition);
        lsn = nextLsn;
    }

    /**
     * A list that is still to be copied: it is pinned, and has its regions from {@code first} to {@code next}.
     *
     * @param below the one that was kept before
     */
    public record Kept(
            Pin pin,
            long id,
            long birth,
            long first,
            long next,
            @Nullable Kept below) {}

    /** Comes before every change of a list. */
    void beforeChange(int list) {
        if (index.lastLsn(list) < lsn) {
            long id = index.id(list);
            if (table.partitionOf(id) == partition && SlotTable.isAhead(id, position)) {
                keep(list);
            }
        }
    }

    /**
     * Copies the next lists that have not changed: of each its head and its regions.
     *
     * @param slice with room for {@link #SLICE_LONGS}
     * @return how many longs were copied
     */
    public int copySlice(long[] slice) {
        int[] copied = {0};
        position = table.visit(position, list -> {
            if (index.lastLsn(list) < lsn) {
                copied[0] += copyOrKeep(list, slice, copied[0]);
            }
        });
        if (!table.isWithin(partition, position)) {
            stop();
        }
        return copied[0];
    }

    /** Whether there are lists that have not been visited. */
    public boolean isWalking() {
        return lsn != NOT_WALKING;
    }

    /** Ends the walk, wherever it is. What is kept stays. */
    public void stop() {
        lsn = NOT_WALKING;
    }

    private int copyOrKeep(int list, long[] slice, int at) {
        long first = index.first(list);
        long next = index.next(list);
        cursor.reset();
        if (next - first + HEAD_LONGS > SLICE_LONGS - at || !index.seek(list, first, cursor, SEEK_CHUNKS)) {
            keep(list);
            return 0;
        }
        slice[at] = index.id(list);
        slice[at + 1] = index.birth(list);
        slice[at + 2] = first;
        slice[at + 3] = next;
        int count = (int) (next - first);
        index.copyRegions(cursor, slice, at + HEAD_LONGS, count);
        return HEAD_LONGS + count;
    }

    private void keep(int list) {
        long first = index.first(list);
        kept = new Kept(index.pin(list, first), index.id(list), index.birth(list), first, index.next(list), kept);
        keptCount++;
    }

    /** How many lists are kept. */
    public int keptCount() {
        return keptCount;
    }

    /** Takes one of the lists that are kept, if there is one; the caller removes its pin. */
    public @Nullable Kept takeKept() {
        Kept taken = kept;
        if (taken != null) {
            kept = taken.below();
            keptCount--;
        }
        return taken;
    }
}
