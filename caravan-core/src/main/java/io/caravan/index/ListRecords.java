package io.caravan.index;

import io.caravan.collections.RecordPages;
import java.util.Arrays;

/**
 * The data of each list in the index, except its regions: a record of ten longs, 80 bytes.
 *
 * <pre>
 *   id | creation LSN | first | next | first stored | last LSN | stored bytes | chunks | places | state
 *
 *   chunks:  numbers of the head chunk and of the tail chunk, 32 bits each
 *   places:  40 bits: entries at the list's end that lie in the log
 *            12 bits: regions of the head chunk that are freed
 *            12 bits: regions that the tail chunk has
 *   state:    3 bits: removed, waiting, young
 *             4 bits: binary logarithm of the size of the tail chunk, or 0
 *            57 bits: places in the reclaim queue
 * </pre>
 *
 * <p>See {@link ListIndex} for the sequences. A list has these states:
 *
 * <pre>
 *   listed   in the table: found by its id, appended to, trimmed, read
 *     |        remove
 *   removed  out of the table: readers that have it pinned continue, and its regions wait to be freed
 *     |        the last of its regions is freed, its last place in the queue used, its last pin removed
 *   over     its record is used for another list
 * </pre>
 *
 * <p>Trimmed or removed regions are freed in the same way in both states. The list is added to the reclaim queue. When
 * this place is processed, the list's regions are freed up to the first pinned region. If any region is pinned, the
 * list is then <em>waiting</em>, although its place has been used. The reader that removes the list's first pin gives
 * the list a new place. A list is <em>young</em> while it is in the queue of lists with entries in the log.
 */
final class ListRecords extends RecordPages {
    static final int ID = 0;
    static final int CREATION_LSN = 1;
    static final int FIRST = 2;
    static final int NEXT = 3;
    static final int FIRST_STORED = 4;
    static final int LAST_LSN = 5;
    static final int STORED_BYTES = 6;
    private static final int CHUNKS = 7;
    private static final int PLACES = 8;
    private static final int STATE = 9;
    private static final int RECORD_LONGS = 10;

    private static final int COUNT_BITS = 12;
    private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
    private static final int YOUNG_SHIFT = 2 * COUNT_BITS;
    private static final long ONE_YOUNG = 1L << YOUNG_SHIFT;

    static final long REMOVED = 1L << 63;
    static final long WAITING = 1L << 62;
    static final long YOUNG = 1L << 61;
    private static final int TAIL_LOG2_SHIFT = 57;
    private static final long TAIL_LOG2_MASK = 0xFL << TAIL_LOG2_SHIFT;

    static final int MAX_LISTS = maxRecords(RECORD_LONGS);

    ListRecords() {
        super(RECORD_LONGS);
    }

    /** Freezes other records, and creates a view of them; see {@link RecordPages#RecordPages(RecordPages)}. */
    ListRecords(ListRecords of) {
        super(of);
    }

    int create(long id, long creationLsn, long first) {
        int list = allocate();
        Arrays.fill(recordToWrite(list), at(list), at(list) + RECORD_LONGS, 0);
        set(list, ID, id);
        set(list, CREATION_LSN, creationLsn);
        set(list, FIRST, first);
        set(list, NEXT, first);
        set(list, FIRST_STORED, first);
        set(list, LAST_LSN, creationLsn);
        return list;
    }

    /**
     * Counts entries whose regions were added to the tail chunk, the last {@code inLog} of which are in the log. Looks
     * up the record only once, because this method runs for every append.
     *
     * @return whether the list had no entries in the log before, and has some now
     */
    boolean countAppended(int list, int count, long bytes, int inLog, long lsn) {
        long[] page = recordToWrite(list);
        int record = at(list);
        boolean first = inLog > 0 && page[record + PLACES] >>> YOUNG_SHIFT == 0;
        page[record + PLACES] += inLog * ONE_YOUNG + count;
        page[record + NEXT] += count;
        page[record + LAST_LSN] = lsn;
        page[record + STORED_BYTES] += bytes;
        return first;
    }

    /** Whether the list has a property: {@link #REMOVED}, {@link #WAITING}, or {@link #YOUNG}. */
    boolean is(int list, long property) {
        return (get(list, STATE) & property) != 0;
    }

    void mark(int list, long property) {
        set(list, STATE, get(list, STATE) | property);
    }

    void unmark(int list, long property) {
        set(list, STATE, get(list, STATE) & ~property);
    }

    /** Adds this number, which may be negative, to the count of the list's places in the reclaim queue. */
    void addPlaces(int list, int places) {
        set(list, STATE, get(list, STATE) + places);
    }

    /** Whether the list is removed and has no place in the queue, so that only pins and regions keep its record. */
    boolean isIdleAndRemoved(int list) {
        return (get(list, STATE) & ~(WAITING | YOUNG | TAIL_LOG2_MASK)) == REMOVED;
    }

    int headChunk(int list) {
        return (int) (get(list, CHUNKS) >>> Integer.SIZE);
    }

    int tailChunk(int list) {
        return (int) get(list, CHUNKS);
    }

    /** Returns the number of entries in the head chunk that are already freed. */
    int headOffset(int list) {
        return (int) (get(list, PLACES) >>> COUNT_BITS & COUNT_MASK);
    }

    int tailCount(int list) {
        return (int) (get(list, PLACES) & COUNT_MASK);
    }

    /** Returns the number of regions that fit in the tail chunk. Does not read the chunk: often a cache miss. */
    int tailCapacity(int list) {
        return (1 << (int) ((get(list, STATE) & TAIL_LOG2_MASK) >>> TAIL_LOG2_SHIFT)) - 1;
    }

    void setHead(int list, int chunk, int offset) {
        set(list, CHUNKS, (long) chunk << Integer.SIZE | tailChunk(list));
        set(list, PLACES, get(list, PLACES) & ~(COUNT_MASK << COUNT_BITS) | (long) offset << COUNT_BITS);
    }

    /** Sets the tail chunk, which has no regions yet; {@code log2} is the binary logarithm of its size. */
    void setTail(int list, int chunk, int log2) {
        set(list, CHUNKS, (long) headChunk(list) << Integer.SIZE | chunk);
        set(list, PLACES, get(list, PLACES) & ~COUNT_MASK);
        set(list, STATE, get(list, STATE) & ~TAIL_LOG2_MASK | (long) log2 << TAIL_LOG2_SHIFT);
    }

    /** Returns the number of entries at the list's end that lie in the log. */
    long young(int list) {
        return get(list, PLACES) >>> YOUNG_SHIFT;
    }

    void setYoung(int list, long count) {
        set(list, PLACES, count << YOUNG_SHIFT | get(list, PLACES) & ONE_YOUNG - 1);
    }
}
