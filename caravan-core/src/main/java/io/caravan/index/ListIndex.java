package io.caravan.index;

import io.caravan.collections.LongPages;
import io.caravan.collections.LongQueue;
import io.caravan.collections.SlotTable;
import io.caravan.format.Region;
import io.caravan.index.Pins.Pin;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;

/**
 * The index of all lists, which maps each list id to the list's sequences, regions, pins, and last write. Not
 * thread-safe; the store's lock guards it.
 *
 * <p>A list is a record in {@link ListRecords} and a chain of {@link RegionChunks}; a hash table in 1,024 partitions
 * finds the record. Three sequences describe the state of a list:
 *
 * <pre>
 *   firstStored       first                      next
 *   ----+---------------+--------------------------+--------
 *       | trimmed, but  | retained                 |
 *       | not yet freed |                          |
 * </pre>
 *
 * <p>A trim moves {@code first}, at the same cost for one entry as for a million entries. {@link #reclaim} later frees
 * the regions from {@code firstStored}, a bounded number at a time, up to the first entry that a reader has pinned.
 * {@link ListRecords} describes the life cycle of a list.
 */
public final class ListIndex {
    public static final int PARTITIONS = 1024;

    /** The maximum number of lists that one step of a walk visits. */
    public static final int MAX_STEP_LISTS = SlotTable.MAX_STEP_SLOTS;

    public static final int NONE = -1;

    private final int maxLists;
    private final ListRecords records;
    private final RegionChunks chunks;
    private final SlotTable table;
    private long entries;
    private long internalEntries;
    private long logBytes;
    private final Pins pins = new Pins();
    /** A queue of the ids of the lists that have entries in the log. Some of these lists may no longer exist. */
    private final LongQueue young = new LongQueue();
    /** Number of lists whose trimmed regions are waiting for the removal of a pin. */
    private int waitingLists;

    public ListIndex() {
        this(ListRecords.MAX_LISTS, LongPages.MAX_PAGES);
    }

    /**
     * Creates an index of limited size.
     *
     * @param maxLists the maximum number of lists, including deleted lists until their last region is freed
     * @param maxRegionPages the maximum number of pages of 8,192 longs for the regions of entries
     */
    public ListIndex(int maxLists, int maxRegionPages) {
        this.maxLists = maxLists;
        this.records = new ListRecords();
        this.chunks = new RegionChunks(maxRegionPages);
        this.table = new SlotTable(PARTITIONS, this::id);
    }

    private ListIndex(ListIndex of) {
        this.maxLists = of.maxLists;
        this.records = new ListRecords(of.records);
        this.chunks = new RegionChunks(of.chunks);
        this.table = of.table.freeze(this::id);
        this.entries = of.entries;
        this.internalEntries = of.internalEntries;
    }

    /**
     * Returns a frozen index with the current lists and their regions. It can be read without the lock until {@link
     * #thaw}, while this index changes. The two indexes share memory: the first change to a page, or to a bucket of the
     * hash table, copies this page or bucket. At most one frozen index exists at a time, and it has no pins.
     */
    public ListIndex freeze() {
        return new ListIndex(this);
    }

    /** Ends the freeze. The frozen index must no longer be read. */
    public void thaw() {
        records.thaw();
        chunks.thaw();
        table.thaw();
    }

    /** Returns the number of appends, across all lists, for which space is guaranteed. */
    public int appendsLeft() {
        return Math.min(listsLeft(), chunks.left());
    }

    /** Whether the index has space for this many new entries in this many lists, not counting the lists themselves. */
    public boolean hasRoom(long newEntries, long lists) {
        return chunks.hasRoom(newEntries, lists);
    }

    /** Returns the number of lists that can still be created. */
    public int listsLeft() {
        return maxLists - records.count();
    }

    /** Returns the list with this id, or {@link #NONE}. */
    public int find(long id) {
        return table.find(id);
    }

    /** Adds an empty list that starts at this sequence. The index must have space for it; see {@link #listsLeft}. */
    public int create(long id, long creationLsn, long first) {
        int list = records.create(id, creationLsn, first);
        table.add(list);
        return list;
    }

    /** Returns the list with this id, after creating it, with this first sequence, if it does not exist. */
    public int findOrCreate(long id, long creationLsn, long first) {
        int found = find(id);
        return found == NONE ? create(id, creationLsn, first) : found;
    }

    public void append(int list, long region, long lsn) {
        int tail = records.tailChunk(list);
        int count = records.tailCount(list);
        if (count == records.tailCapacity(list)) {
            tail = addChunk(list, tail, chunks.allocate(next(list) - firstStored(list)));
            count = 0;
        }
        chunks.setRegion(tail, count, region);
        boolean inLog = Region.isInLog(region);
        countAppended(list, 1, Region.length(region), inLog ? 1 : 0, lsn);
        logBytes += inLog ? Region.entryBytes(region) : 0;
    }

    /** Appends {@code count} regions that start at an index of a buffer, in chunks that they fill if possible. */
    public void append(int list, ByteBuffer regions, int at, int count, long lsn) {
        int done = 0;
        while (done < count) {
            int tail = records.tailChunk(list);
            int used = records.tailCount(list);
            if (used == records.tailCapacity(list)) {
                tail = addChunk(list, tail, chunks.allocateFilled(next(list) - firstStored(list), count - done));
                used = 0;
            }
            int added = Math.min(count - done, records.tailCapacity(list) - used);
            long bytes = 0;
            int inLog = 0;
            for (int i = 0; i < added; i++) {
                long region = regions.getLong(at + (done + i) * Long.BYTES);
                chunks.setRegion(tail, used + i, region);
                bytes += Region.length(region);
                inLog += Region.isInLog(region) ? 1 : 0;
                logBytes += Region.isInLog(region) ? Region.entryBytes(region) : 0;
            }
            countAppended(list, added, bytes, inLog, lsn);
            done += added;
        }
    }

    private void countAppended(int list, int count, long bytes, int inLog, long lsn) {
        if (records.countAppended(list, count, bytes, inLog, lsn)) {
            queueYoung(list);
        }
        entries += count;
        internalEntries += isBookkeeping(id(list)) ? count : 0;
    }

    private void queueYoung(int list) {
        if (!records.is(list, ListRecords.YOUNG)) {
            young.add(id(list));
            records.mark(list, ListRecords.YOUNG);
        }
    }

    /** Returns how many calls to {@link #takeYoung} suffice to take every list that has entries in the log now. */
    public long youngLists() {
        return young.added() - young.removed();
    }

    /**
     * Removes and returns the next list from the queue of lists that may have entries in the log; {@link #putYoung}
     * puts it back. Returns {@link #NONE} if the list was removed from the index.
     */
    public int takeYoung() {
        int list = find(young.first(0));
        young.remove(1);
        // A failure between this line and the pin of the list fails the store.
        if (list == NONE || !records.is(list, ListRecords.YOUNG)) {
            return NONE;
        }
        records.unmark(list, ListRecords.YOUNG);
        return list;
    }

    /** Puts a taken list back in the queue if it still has entries in the log. */
    public void putYoung(int list) {
        if (records.young(list) > 0) {
            queueYoung(list);
        }
    }

    private int addChunk(int list, int tail, int added) {
        if (tail == RegionChunks.NONE) {
            records.setHead(list, added, 0);
        } else {
            chunks.setNext(tail, added);
        }
        records.setTail(list, added, chunks.log2(added));
        return added;
    }

    /** Removes a list's entries before {@code first}, or all if it ends before. Returns the new first sequence. */
    public long trimTo(int list, long first, long lsn) {
        long now = Math.max(first(list), Math.min(first, next(list)));
        long removed = now - first(list);
        entries -= removed;
        internalEntries -= isBookkeeping(id(list)) ? removed : 0;
        records.set(list, ListRecords.FIRST, now);
        records.set(list, ListRecords.LAST_LSN, lsn);
        return now;
    }

    /** Removes a deleted list from the table. The list's regions wait for {@link #reclaim}. */
    public void remove(int list, long lsn) {
        trimTo(list, next(list), lsn);
        table.remove(list);
        records.mark(list, ListRecords.REMOVED);
    }

    /** Pins the list's entries from this sequence on, none of which is freed yet, until {@link #unpin}. */
    public Pin pin(int list, long from) {
        return pins.add(list, from);
    }

    /** Removes a pin. Returns whether regions waited only for its removal; the caller then queues them. */
    public boolean unpin(Pin pin) {
        pins.remove(pin);
        boolean waited = records.is(pin.list(), ListRecords.WAITING) && pins.first(pin.list()) > pin.from();
        if (waited) {
            records.unmark(pin.list(), ListRecords.WAITING);
            waitingLists--;
        }
        return waited;
    }

    /** Records a new place of the list in the reclaim queue, which keeps the list's record until {@link #unqueued}. */
    public void queued(int list) {
        records.addPlaces(list, 1);
    }

    /** Records that a place of the list in the queue was processed. Frees the list's record if nothing needs it. */
    public void unqueued(int list) {
        records.addPlaces(list, -1);
        boolean over = records.isIdleAndRemoved(list) && pins.first(list) == Pins.NONE;
        if (over && firstStored(list) == next(list)) {
            records.free(list);
        }
    }

    /**
     * Frees up to {@code limit} trimmed regions before sequence {@code to} and before the first pinned region.
     *
     * @return whether more regions remain that could be freed now
     */
    public boolean reclaim(int list, long to, int limit, LongConsumer freed) {
        long pinned = pins.first(list);
        long until = Math.min(Math.min(to, first(list)), pinned);
        long bytesBefore = storedBytes(list);
        for (int count = 0; count < limit && firstStored(list) < until; count++) {
            freed.accept(takeHead(list));
        }
        if (pinned != Pins.NONE) {
            waitingLists += records.is(list, ListRecords.WAITING) ? 0 : 1;
            records.mark(list, ListRecords.WAITING);
            pins.countFreed(list, bytesBefore - storedBytes(list));
        }
        return firstStored(list) < until;
    }

    private long takeHead(int list) {
        int head = records.headChunk(list);
        int at = records.headOffset(list);
        long region = chunks.region(head, at);
        long taken = firstStored(list);
        if (taken == tenured(list)) {
            records.setYoung(list, records.young(list) - 1);
        }
        records.set(list, ListRecords.FIRST_STORED, taken + 1);
        records.set(list, ListRecords.STORED_BYTES, storedBytes(list) - Region.length(region));
        logBytes -= Region.isInLog(region) ? Region.entryBytes(region) : 0;
        if (taken + 1 == next(list)) {
            records.setHead(list, RegionChunks.NONE, 0);
            records.setTail(list, RegionChunks.NONE, 0);
            chunks.free(head);
        } else if (at + 1 == chunks.capacity(head)) {
            records.setHead(list, chunks.next(head), 0);
            chunks.free(head);
        } else {
            records.setHead(list, head, at + 1);
        }
        return region;
    }

    /** Moves the cursor to an entry that is not freed yet, or past the last, in time proportional to the distance. */
    public void seek(int list, long sequence, ListCursor cursor) {
        cursor.sequence = ListCursor.NOWHERE;
        seek(list, sequence, cursor, Integer.MAX_VALUE);
    }

    /**
     * Moves the cursor toward an entry of a pinned list, or past its last entry, by up to {@code limit} chunks. The
     * newest entries, which are read most often, are found directly.
     *
     * @return whether the cursor has arrived; otherwise the next call continues from its position
     */
    public boolean seek(int list, long sequence, ListCursor cursor, int limit) {
        long fromEnd = next(list) - sequence;
        if (fromEnd <= records.tailCount(list)) {
            cursor.chunk = records.tailChunk(list);
            cursor.at = (int) (records.tailCount(list) - fromEnd);
            cursor.sequence = sequence;
            return true;
        }
        // Entries before the pinned entries, and the cursor's chunk with them, may have been freed since the last call.
        if (cursor.sequence < firstStored(list) || cursor.sequence > sequence) {
            cursor.chunk = records.headChunk(list);
            cursor.at = records.headOffset(list);
            cursor.sequence = firstStored(list);
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

    /**
     * Returns the sequence of a list's first entry in the log. All later entries are also in the log, and all earlier
     * retained or pinned entries are in the heap.
     */
    public long tenured(int list) {
        return next(list) - records.young(list);
    }

    /** Returns the sequence of the first entry that a checkpoint must keep because it is retained or pinned. */
    public long firstKept(int list) {
        return Math.min(first(list), Math.max(firstStored(list), pins.first(list)));
    }

    /** Returns the total size of the entries in the log, including trimmed entries that are not freed yet. */
    public long logBytes() {
        return logBytes;
    }

    /**
     * Records that entries of a pinned list have moved from the log to these places in the heap.
     *
     * @param cursor points to the first of these entries; all earlier retained or pinned entries are {@linkplain
     *     #tenured in the heap}
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
     * Performs one step of a walk through the pinned lists, during which pins may be added and removed. A walk starts
     * at list 0, and ends when a step returns {@link #NONE}.
     *
     * @param limit the maximum number of lists that the step visits
     * @param action may pin and unpin the list that it receives
     * @return the list at which the next step starts
     */
    public int visitPinned(int from, int limit, IntConsumer action) {
        int list = pins.nextList(from);
        for (int visited = 0; list != NONE && visited < limit; visited++) {
            action.accept(list);
            list = pins.nextList(list + 1);
        }
        return list;
    }

    /** Whether any list has trimmed regions that are waiting for the removal of a pin. */
    public boolean awaitsPins() {
        return waitingLists > 0;
    }

    /** Returns the sequence of the first pinned entry of a list that has a pin. */
    public long firstPinned(int list) {
        return pins.first(list);
    }

    /** Copies {@code count} regions, which must be pinned and not freed yet, and moves the cursor past them. */
    public void copyRegions(ListCursor cursor, long[] target, int targetAt, int count) {
        int copied = 0;
        while (copied < count) {
            skipChunkEnd(cursor);
            int run = Math.min(count - copied, chunks.capacity(cursor.chunk) - cursor.at);
            chunks.copy(cursor.chunk, cursor.at, target, targetAt + copied, run);
            cursor.at += run;
            copied += run;
        }
        cursor.sequence += count;
    }

    /** Calls the action with every list of a partition. The index must not change during the call. */
    public void forEachList(int partition, IntConsumer action) {
        table.forEach(partition, action);
    }

    /**
     * Performs one step of a walk through all lists, during which the index may change. A walk starts at position 0,
     * and ends when a step returns 0. A list that exists during the entire walk is visited once.
     *
     * @return the position of the next step
     */
    public long visit(long position, IntConsumer action) {
        return table.visit(position, action);
    }

    public static int partitionOf(long id) {
        return (int) (SlotTable.hash(id) >>> Long.SIZE - Integer.numberOfTrailingZeros(PARTITIONS));
    }

    public long id(int list) {
        return records.get(list, ListRecords.ID);
    }

    /** Returns the LSN of the record that created the list. */
    public long creationLsn(int list) {
        return records.get(list, ListRecords.CREATION_LSN);
    }

    public long first(int list) {
        return records.get(list, ListRecords.FIRST);
    }

    public long next(int list) {
        return records.get(list, ListRecords.NEXT);
    }

    /** Returns the sequence of the first entry whose region is not freed yet. */
    public long firstStored(int list) {
        return records.get(list, ListRecords.FIRST_STORED);
    }

    public long lastLsn(int list) {
        return records.get(list, ListRecords.LAST_LSN);
    }

    /** Returns the total length, in bytes, of the list's values, including trimmed values that are not freed yet. */
    public long storedBytes(int list) {
        return records.get(list, ListRecords.STORED_BYTES);
    }

    public int listCount() {
        return table.size();
    }

    /** Returns the number of retained entries of all lists. */
    public long entryCount() {
        return entries;
    }

    /** Returns the number of retained entries of all lists except bookkeeping lists. */
    public long valueCount() {
        return entries - internalEntries;
    }

    /** Whether lists with this id are for bookkeeping, such as a catalog, rather than for documents. */
    public static boolean isBookkeeping(long id) {
        return id <= 0;
    }

    public long memoryBytes() {
        return records.memoryBytes() + chunks.memoryBytes() + table.memoryBytes();
    }
}
