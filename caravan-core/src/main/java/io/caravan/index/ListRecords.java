package io.caravan.index;

import io.caravan.collections.RecordPages;

/**
 * The data of each list in the index, except its regions: a record of ten longs, 80 bytes.
 *
 * <pre>
 *   id | birth | first | next | held | last LSN | held bytes | chunks | places | life
 *
 *   chunks:  numbers of the head chunk and of the tail chunk, 32 bits each
 *   places:  40 bits: entries at the list's end that lie in the log
 *            12 bits: regions of the head chunk that are freed
 *            12 bits: regions that the tail chunk has
 * </pre>
 *
 * <p>See {@link ListIndex} for the sequences, and {@link ListState} for the life.
 */
final class ListRecords {
    private static final int ID = 0;
    private static final int BIRTH = 1;
    private static final int FIRST = 2;
    private static final int NEXT = 3;
    private static final int HELD = 4;
    private static final int LAST_LSN = 5;
    private static final int HELD_BYTES = 6;
    private static final int CHUNKS = 7;
    private static final int PLACES = 8;
    private static final int LIFE = 9;
    private static final int RECORD_LONGS = 10;

    private static final int COUNT_BITS = 12;
    private static final int COUNT_MASK = (1 << COUNT_BITS) - 1;
    private static final int YOUNG_SHIFT = 2 * COUNT_BITS;
    private static final long ONE_YOUNG = 1L << YOUNG_SHIFT;

    static final int MAX_LISTS = RecordPages.maxRecords(RECORD_LONGS);

    private final RecordPages records;

    ListRecords() {
        this(new RecordPages(RECORD_LONGS));
    }

    private ListRecords(RecordPages records) {
        this.records = records;
    }

    /**
     * Returns a frozen view of the current records, which can be read until {@link #thaw} while this object changes.
     */
    ListRecords freeze() {
        return new ListRecords(records.freeze());
    }

    void thaw() {
        records.thaw();
    }

    int create(long id, long birth, long first) {
        int list = records.allocate();
        set(list, ID, id);
        set(list, BIRTH, birth);
        set(list, FIRST, first);
        set(list, NEXT, first);
        set(list, HELD, first);
        set(list, LAST_LSN, birth);
        set(list, HELD_BYTES, 0);
        set(list, CHUNKS, 0);
        set(list, PLACES, 0);
        set(list, LIFE, ListState.LISTED);
        return list;
    }

    void free(int list) {
        records.free(list);
    }

    int count() {
        return records.count();
    }

    long memoryBytes() {
        return records.memoryBytes();
    }

    /**
     * Counts an entry whose region was added to the tail chunk. It looks up the record only once, because this runs
     * millions of times.
     *
     * @return whether it is the only entry of the list in the log
     */
    boolean countAppended(int list, long lsn, int length, boolean inLog) {
        long[] page = records.pageToWrite(list);
        int record = records.at(list);
        page[record + PLACES] += inLog ? ONE_YOUNG + 1 : 1;
        page[record + NEXT]++;
        page[record + LAST_LSN] = lsn;
        page[record + HELD_BYTES] += length;
        return inLog && page[record + PLACES] >>> YOUNG_SHIFT == 1;
    }

    long id(int list) {
        return get(list, ID);
    }

    long birth(int list) {
        return get(list, BIRTH);
    }

    long first(int list) {
        return get(list, FIRST);
    }

    void setFirst(int list, long sequence) {
        set(list, FIRST, sequence);
    }

    long next(int list) {
        return get(list, NEXT);
    }

    long held(int list) {
        return get(list, HELD);
    }

    void setHeld(int list, long sequence) {
        set(list, HELD, sequence);
    }

    long lastLsn(int list) {
        return get(list, LAST_LSN);
    }

    void setLastLsn(int list, long lsn) {
        set(list, LAST_LSN, lsn);
    }

    long heldBytes(int list) {
        return get(list, HELD_BYTES);
    }

    void setHeldBytes(int list, long bytes) {
        set(list, HELD_BYTES, bytes);
    }

    long life(int list) {
        return get(list, LIFE);
    }

    void setLife(int list, long life) {
        set(list, LIFE, life);
    }

    int headChunk(int list) {
        return (int) (get(list, CHUNKS) >>> Integer.SIZE);
    }

    int tailChunk(int list) {
        return (int) get(list, CHUNKS);
    }

    void setChunks(int list, int head, int tail) {
        set(list, CHUNKS, (long) head << Integer.SIZE | tail);
    }

    /** Returns the number of entries of the head chunk that are freed already. */
    int headOffset(int list) {
        return (int) get(list, PLACES) >>> COUNT_BITS & COUNT_MASK;
    }

    int tailCount(int list) {
        return (int) get(list, PLACES) & COUNT_MASK;
    }

    void setPlaces(int list, int headOffset, int tailCount) {
        set(list, PLACES, young(list) << YOUNG_SHIFT | (long) headOffset << COUNT_BITS | tailCount);
    }

    /** Returns the number of entries at the list's end that lie in the log. */
    long young(int list) {
        return get(list, PLACES) >>> YOUNG_SHIFT;
    }

    void setYoung(int list, long count) {
        set(list, PLACES, count << YOUNG_SHIFT | get(list, PLACES) & ONE_YOUNG - 1);
    }

    private long get(int list, int field) {
        return records.get(list, field);
    }

    private void set(int list, int field, long value) {
        records.set(list, field, value);
    }
}
