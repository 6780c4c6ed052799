package io.caravan.index;

import io.caravan.collections.LongPages;
import io.caravan.collections.LongQueue;
import io.caravan.collections.SlotTable;
import io.caravan.format.Region;
import io.caravan.index.Pins.Pin;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;

/**
 * All lists: document id to sequences, regions, pins and last change. Not thread-safe; the store's lock guards it.
 *
 * <p>A list is a record in {@link ListRecords} and a chain of {@link RegionChunks}; a hash table in 1,024 partitions
 * finds it. Three sequences tell where a list stands:
 *
 * <pre>
 *      held            first                      next
 *   ----+---------------+--------------------------+--------
 *       | trimmed, but  | retained                 |
 *       | not yet freed |                          |
 * </pre>
 *
 * <p>A trim moves {@code first} and costs the same for one entry or a million. {@link #reclaim} later frees the regions
 * from {@code held} on, a bounded number at a time, up to the first entry that a reader has pinned. {@link ListLife}
 * says what becomes of a list that is removed.
 */
public final class ListIndex {
    public static final int PARTITIONS = 1024;

    private static final int PARTITION_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(PARTITIONS);
    /** Regions that are copied at a time. */
    private static final int SLICE = 512;

    /** The most lists that one step of a walk visits. */
    public static final int MAX_STEP_LISTS = SlotTable.MAX_STEP_SLOTS;

    public static final int NONE = -1;

    private final int maxLists;
    private final ListRecords records;
    private final RegionChunks chunks;
    private final SlotTable table;
    private long entries;
    private long logBytes;
    private final Pins pins = new Pins();
    /** Ids of lists that got an entry in the log while they had none, and were not taken since; some are over by now. */
    private final LongQueue young = new LongQueue();
    /** Lists that have trimmed regions which wait for a pin to go. */
    private int waitingLists;

    public ListIndex() {
        this(ListRecords.MAX_LISTS, LongPages.MAX_PAGES);
    }

    /**
     * An index of limited size.
     *
     * @param maxLists room for so many lists, deleted ones included until their last region is freed
     * @param maxRegionPages room for so many pages of 8,192 longs with the regions of entries
     */
    public ListIndex(int maxLists, int maxRegionPages) {
        this.maxLists = maxLists;
        this.records = new ListRecords();
        this.chunks = new RegionChunks(maxRegionPages);
        this.table = new SlotTable(PARTITIONS, this::id);
    }

    private ListIndex(ListIndex of) {
        this.maxLists = of.maxLists;
        this.records = of.records.freeze();
        this.chunks = of.chunks.freeze();
        this.table = of.table.freeze(this::id);
        this.entries = of.entries;
    }

    /**
     * The lists as they are now, and their regions, to be read without the lock while this index goes on changing, until
     * {@link #thaw}. It shares the memory: the first change of a page, or of a bucket of the hash table, copies that. There
     * is one frozen index at a time, and nothing is known of its pins.
     */
    public ListIndex freeze() {
        return new ListIndex(this);
    }

    /** Ends the freezing: the frozen index is not read any more. */
    public void thaw() {
        records.thaw();
        chunks.thaw();
        table.thaw();
    }

    /** How many appends will find room, whichever lists they are for. */
    public int appendsLeft() {
        return Math.min(listsLeft(), chunks.left());
    }

    /** Whether so many new entries of so many lists will find room, not counting the lists themselves. */
    public boolean hasRoom(long newEntries, long lists) {
        return chunks.hasRoom(newEntries, lists);
    }

    /** How many lists can still be created. */
    public int listsLeft() {
        return maxLists - records.count();
    }

    /** The list with this id, or {@link #NONE}. */
    public int find(long id) {
        return table.find(id);
    }

    /** Adds an empty list that starts at sequence {@code first}; there must be room for it, see {@link #listsLeft}. */
    public int create(long id, long birth, long first) {
        int list = records.create(id, birth, first);
        table.add(list);
        return list;
    }

    /** Adds a region at the list's end. */
    public void append(int list, long region, long lsn) {
        int tail = records.tailChunk(list);
        int count = records.tailCount(list);
        if (tail == RegionChunks.NONE || count == chunks.capacity(tail)) {
            tail = addChunk(list, tail);
            count = 0;
        }
        chunks.setRegion(tail, count, region);
        boolean inLog = Region.isInLog(region);
        if (records.countAppended(list, lsn, Region.length(region), inLog)) {
            queueYoung(list);
        }
        logBytes += inLog ? Region.entryBytes(region) : 0;
        entries++;
    }

    private void queueYoung(int list) {
        long life = records.life(list);
        if (!ListLife.isYoung(life)) {
            young.add(id(list));
            records.setLife(list, ListLife.young(life));
        }
    }

    /** How often {@link #takeYoung} may be called until every list was taken that has entries in the log now. */
    public long youngLists() {
        return young.added() - young.removed();
    }

    /**
     * Takes the next list that may have entries in the log out of their queue; {@link #putYoung} puts it back. Returns
     * {@link #NONE} when that list was removed.
     */
    public int takeYoung() {
        int list = find(young.first(0));
        young.remove(1);
        // What fails from here until it is pinned fails the store.
        if (list == NONE || !ListLife.isYoung(records.life(list))) {
            return NONE;
        }
        records.setLife(list, ListLife.notYoung(records.life(list)));
        return list;
    }

    /** Puts a list back that was taken, if it still has entries in the log. */
    public void putYoung(int list) {
        if (records.young(list) > 0) {
            queueYoung(list);
        }
    }

    private int addChunk(int list, int tail) {
        int added = chunks.allocate(next(list) - held(list));
        if (tail == RegionChunks.NONE) {
            records.setChunks(list, added, added);
            records.setPlaces(list, 0, 0);
        } else {
            chunks.setNext(tail, added);
            records.setChunks(list, records.headChunk(list), added);
            records.setPlaces(list, records.headOffset(list), 0);
        }
        return added;
    }

    /** Drops the entries before {@code first}, at most all; returns the sequence that is now first. */
    public long trimTo(int list, long first, long lsn) {
        long now = Math.max(first(list), Math.min(first, next(list)));
        entries -= now - first(list);
        records.setFirst(list, now);
        records.setLastLsn(list, lsn);
        return now;
    }

    /** Takes a list out of the table; its regions wait for {@link #reclaim}. */
    public void remove(int list, long lsn) {
        trimTo(list, next(list), lsn);
        table.remove(list);
        records.setLife(list, ListLife.removed(records.life(list)));
    }

    /** Keeps the regions of the list's entries from a sequence on, which must be held, until {@link #unpin}. */
    public Pin pin(int list, long from) {
        return pins.add(list, from);
    }

    /** Removes a pin. Returns whether regions waited for just this one, which the caller now queues for reclaiming. */
    public boolean unpin(Pin pin) {
        pins.remove(pin);
        long life = records.life(pin.list());
        boolean waited = ListLife.isWaiting(life) && pins.first(pin.list()) > pin.from();
        if (waited) {
            records.setLife(pin.list(), ListLife.notWaiting(life));
            waitingLists--;
        }
        return waited;
    }

    /** Counts a place in the queue of lists to reclaim; the record stays as long as there is one. */
    public void queued(int list) {
        records.setLife(list, ListLife.queued(records.life(list)));
    }

    /** A place in the queue has been used up. Frees the record if the list's life is over. */
    public void unqueued(int list) {
        long life = ListLife.unqueued(records.life(list));
        records.setLife(list, life);
        boolean over = ListLife.isIdleAndRemoved(life) && pins.first(list) == Pins.NONE;
        if (over && held(list) == next(list)) {
            records.free(list);
        }
    }

    /**
     * Frees at most {@code limit} trimmed regions before sequence {@code to}, and before the first that is pinned.
     *
     * @return whether more are left that could be freed now
     */
    public boolean reclaim(int list, long to, int limit, LongConsumer freed) {
        long pinned = pins.first(list);
        long until = Math.min(Math.min(to, first(list)), pinned);
        long bytesBefore = heldBytes(list);
        for (int count = 0; count < limit && held(list) < until; count++) {
            freed.accept(takeHead(list));
        }
        if (pinned != Pins.NONE) {
            waitingLists += ListLife.isWaiting(records.life(list)) ? 0 : 1;
            records.setLife(list, ListLife.waiting(records.life(list)));
            pins.countFreed(list, bytesBefore - heldBytes(list));
        }
        return held(list) < until;
    }

    private long takeHead(int list) {
        int head = records.headChunk(list);
        int at = records.headOffset(list);
        long region = chunks.region(head, at);
        if (held(list) == tenured(list)) {
            records.setYoung(list, records.young(list) - 1);
        }
        records.setHeld(list, held(list) + 1);
        records.setHeldBytes(list, heldBytes(list) - Region.length(region));
        logBytes -= Region.isInLog(region) ? Region.entryBytes(region) : 0;
        if (held(list) == next(list)) {
            records.setChunks(list, RegionChunks.NONE, RegionChunks.NONE);
            records.setPlaces(list, 0, 0);
            chunks.free(head);
        } else if (at + 1 == chunks.capacity(head)) {
            records.setChunks(list, chunks.next(head), records.tailChunk(list));
            records.setPlaces(list, 0, records.tailCount(list));
            chunks.free(head);
        } else {
            records.setPlaces(list, at + 1, records.tailCount(list));
        }
        return region;
    }

    /** Points the cursor at an entry whose region is not freed yet, or behind the last; takes as long as the way is. */
    public void seek(int list, long sequence, ListCursor cursor) {
        cursor.reset();
        seek(list, sequence, cursor, Integer.MAX_VALUE);
    }

    /**
     * Moves the cursor towards an entry of a pinned list, or behind its last, past at most {@code limit} chunks. The
     * newest entries, which are read most, are found at once.
     *
     * @return whether the cursor is there; else the next call goes on from where it is
     */
    public boolean seek(int list, long sequence, ListCursor cursor, int limit) {
        long fromEnd = next(list) - sequence;
        if (fromEnd <= records.tailCount(list)) {
            cursor.chunk = records.tailChunk(list);
            cursor.at = (int) (records.tailCount(list) - fromEnd);
            cursor.sequence = sequence;
            return true;
        }
        // What lies before the pinned entries may have been freed since the last call, and the cursor's chunk with it.
        if (cursor.sequence < held(list) || cursor.sequence > sequence) {
            cursor.chunk = records.headChunk(list);
            cursor.at = records.headOffset(list);
            cursor.sequence = held(list);
        }
        for (int passed = 0; passed < limit; passed++) {
            long ahead = chunks.capacity(cursor.chunk) - cursor.at;
            if (sequence - cursor.sequence < ahead) {
                cursor.at += (int) (sequence - cursor.sequence);
                cursor.sequence = sequence;
                return true;
            }
            cursor.chunk = chunks.next(cursor.chunk);
            cursor.at = 0;
            cursor.sequence += ahead;
        }
        return false;
    }

    /** Sequence of the first entry that lies in the log, as do all behind it. Of those before it none does that is kept. */
    public long tenured(int list) {
        return next(list) - records.young(list);
    }

    /** Sequence of the first entry that a checkpoint must keep: retained, or pinned by a reader. */
    public long firstKept(int list) {
        return Math.min(first(list), Math.max(held(list), pins.first(list)));
    }

    /** Bytes of the entries in the log that are not freed, trimmed ones included. */
    public long logBytes() {
        return logBytes;
    }

    /**
     * Gives entries of a pinned list, which lay in the log until now, their places in the heap.
     *
     * @param cursor points at the first of them: everything kept before it is {@linkplain #tenured tenured}
     */
    public void tenure(int list, ListCursor cursor, long[] places, int at, int count) {
        long to = cursor.sequence + count;
        for (int i = at; i < at + count; i++) {
            skipChunkEnd(cursor);
            chunks.setRegion(cursor.chunk, cursor.at++, places[i]);
            logBytes -= Region.entryBytes(places[i]);
        }
        records.setYoung(list, next(list) - to);
    }

    private void skipChunkEnd(ListCursor cursor) {
        if (cursor.at == chunks.capacity(cursor.chunk)) {
            cursor.chunk = chunks.next(cursor.chunk);
            cursor.at = 0;
        }
    }

    /**
     * One step of a walk through the pinned lists, which goes on while pins come and go. A walk starts at list 0, and is
     * through when a step returns {@link #NONE}.
     *
     * @param limit the most lists that the step visits
     * @param action may pin and unpin the list that it is called with
     * @return the list that the next step starts at
     */
    public int visitPinned(int from, int limit, IntConsumer action) {
        int list = pins.nextList(from);
        for (int visited = 0; list != NONE && visited < limit; visited++) {
            action.accept(list);
            list = pins.nextList(list + 1);
        }
        return list;
    }

    /** Whether there are lists whose trimmed regions are freed only when a pin is gone. */
    public boolean awaitsPins() {
        return waitingLists > 0;
    }

    /** Sequence of the first entry of a list that is pinned; the list has a pin. */
    public long firstPinned(int list) {
        return pins.first(list);
    }

    /** Copies {@code count} regions, which must be held and pinned, and moves the cursor behind them. */
    public void copyRegions(ListCursor cursor, long[] target, int targetAt, int count) {
        int copied = 0;
        while (copied < count) {
            int capacity = chunks.capacity(cursor.chunk);
            if (cursor.at == capacity) {
                cursor.chunk = chunks.next(cursor.chunk);
                cursor.at = 0;
                continue;
            }
            int run = Math.min(count - copied, capacity - cursor.at);
            chunks.copy(cursor.chunk, cursor.at, target, targetAt + copied, run);
            cursor.at += run;
            copied += run;
        }
        cursor.sequence += count;
    }

    /** Calls the action with every list of a partition. The index must not change meanwhile. */
    public void forEachList(int partition, IntConsumer action) {
        table.forEach(partition, action);
    }

    /**
     * One step of a walk through all lists, which goes on while the index changes. A walk starts at position 0, and is
     * through when a step returns 0 again. A list that is there during the whole walk is visited once.
     *
     * @return the position of the next step
     */
    public long visit(long position, IntConsumer action) {
        return table.visit(position, action);
    }

    /** The partition that an id belongs to. */
    public static int partitionOf(long id) {
        return (int) (SlotTable.hash(id) >>> PARTITION_SHIFT);
    }

    /** Calls the action with the regions of all entries in the heap, partition by partition, as a checkpoint has them. */
    public void forEachInHeap(LongConsumer action) {
        ListCursor cursor = new ListCursor();
        long[] slice = new long[SLICE];
        for (int partition = 0; partition < PARTITIONS; partition++) {
            forEachList(partition, list -> forEachInHeap(list, cursor, slice, action));
        }
    }

    private void forEachInHeap(int list, ListCursor cursor, long[] slice, LongConsumer action) {
        long left = tenured(list) - first(list);
        if (left > 0) {
            seek(list, first(list), cursor);
        }
        while (left > 0) {
            int count = (int) Math.min(left, SLICE);
            copyRegions(cursor, slice, 0, count);
            for (int i = 0; i < count; i++) {
                action.accept(slice[i]);
            }
            left -= count;
        }
    }

    public long id(int list) {
        return records.id(list);
    }

    /** LSN of the record that created the list. */
    public long birth(int list) {
        return records.birth(list);
    }

    public long first(int list) {
        return records.first(list);
    }

    public long next(int list) {
        return records.next(list);
    }

    /** Sequence of the first entry whose region is not freed yet. */
    public long held(int list) {
        return records.held(list);
    }

    /** LSN of the list's last change. */
    public long lastLsn(int list) {
        return records.lastLsn(list);
    }

    /** Bytes of all values held, trimmed ones included. */
    public long heldBytes(int list) {
        return records.heldBytes(list);
    }

    public int listCount() {
        return table.size();
    }

    /** Retained entries of all lists. */
    public long entryCount() {
        return entries;
    }

    public long memoryBytes() {
        return records.memoryBytes() + chunks.memoryBytes() + table.memoryBytes();
    }
}
