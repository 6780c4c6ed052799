package io.caravan.collections;

import java.util.BitSet;

/**
 * Stores fixed-size records of a few longs, numbered from 0, in pages. Freed records are reused. Empty pages are
 * released, except for one page that is kept for the next record. Not thread-safe.
 *
 * <p>The first two longs of a page are the number of its records in use and its first free record. The first long of a
 * free record is the next free record of the page.
 */
public class RecordPages extends LongPages {
    private static final int NONE = -1;
    private static final int USED = 0;
    private static final int FIRST_FREE = 1;
    private static final int HEADER_LONGS = 2;

    private final int recordLongs;
    private final int recordsPerPage;
    private final int pageShift;
    private final int recordMask;
    /** The pages with free records, none of which precedes {@link #firstWithRoom}. */
    private final BitSet withRoom = new BitSet();

    private int firstWithRoom;
    private int count;
    /** An empty page kept in reserve, so that allocating and freeing one record repeatedly needs no new page. */
    private int spare = NONE;

    /** Creates an empty set of records of this many longs each. */
    public RecordPages(int recordLongs) {
        super(MAX_PAGES);
        this.recordLongs = recordLongs;
        this.recordsPerPage = recordsPerPage(recordLongs);
        this.pageShift = pageShift(recordsPerPage);
        this.recordMask = (1 << pageShift) - 1;
    }

    /** Freezes other records, and creates a view of them; see {@link LongPages#LongPages(LongPages)}. */
    public RecordPages(RecordPages of) {
        super(of);
        this.recordLongs = of.recordLongs;
        this.recordsPerPage = of.recordsPerPage;
        this.pageShift = of.pageShift;
        this.recordMask = of.recordMask;
    }

    /**
     * Returns the maximum number of records if each record has this many longs. The number of pages and the maximum
     * slot of a {@link SlotTable} limit it.
     */
    public static int maxRecords(int recordLongs) {
        int perPage = recordsPerPage(recordLongs);
        return Math.min(MAX_PAGES, SlotBucket.MAX_SLOT >>> pageShift(perPage)) * perPage;
    }

    private static int recordsPerPage(int recordLongs) {
        return (PAGE_LONGS - HEADER_LONGS) / recordLongs;
    }

    private static int pageShift(int recordsPerPage) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(recordsPerPage - 1);
    }

    /** Returns the number of records in use. */
    public final int count() {
        return count;
    }

    public final long get(int record, int field) {
        return page(record >>> pageShift)[at(record) + field];
    }

    public final void set(int record, int field, long value) {
        recordToWrite(record)[at(record) + field] = value;
    }

    /** Returns, for writing, the array with the longs of a record in use, which start at {@link #at}. */
    public final long[] recordToWrite(int record) {
        return pageToWrite(record >>> pageShift);
    }

    /** Returns the offset of a record in its {@linkplain #recordToWrite array}. */
    public final int at(int record) {
        return HEADER_LONGS + (record & recordMask) * recordLongs;
    }

    /** Allocates a record, and returns its number. The record's longs have undefined values. */
    public final int allocate() {
        int found = withRoom.nextSetBit(firstWithRoom);
        int number = found < 0 ? addEmptyPage() : found;
        firstWithRoom = number;
        count++;
        long[] page = pageToWrite(number);
        int record = (int) page[FIRST_FREE];
        page[FIRST_FREE] = page[at(record)];
        if (++page[USED] == recordsPerPage) {
            withRoom.clear(number);
        }
        if (number == spare) {
            spare = NONE;
        }
        return number << pageShift | record;
    }

    private int addEmptyPage() {
        int number = addPage();
        long[] page = pageToWrite(number);
        for (int record = 0; record < recordsPerPage; record++) {
            page[at(record)] = record + 1;
        }
        withRoom.set(number);
        return number;
    }

    public final void free(int record) {
        count--;
        int number = record >>> pageShift;
        long[] page = pageToWrite(number);
        page[at(record)] = page[FIRST_FREE];
        page[FIRST_FREE] = record & recordMask;
        withRoom.set(number);
        firstWithRoom = Math.min(firstWithRoom, number);
        if (--page[USED] > 0) {
            return;
        }
        if (spare == NONE) {
            spare = number;
        } else {
            withRoom.clear(number);
            releasePage(number);
        }
    }
}
