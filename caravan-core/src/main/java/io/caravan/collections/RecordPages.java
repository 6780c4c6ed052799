package io.caravan.collections;

/**
 * Stores fixed-size records of a few longs, numbered from 0, in {@link LongPages}. Freed records are reused. Empty
 * pages are released, except for one page that is kept for the next record. Not thread-safe.
 *
 * <p>The first two longs of a page are its header. Pages with free records form a linked list.
 *
 * <pre>
 *   63                                 32 31                                  0
 *   +------------------------------------+------------------------------------+
 *   | records in use                     | first free record, or -1           |
 *   +------------------------------------+------------------------------------+
 *   | previous page with space, or -1    | next page with space, or -1        |
 *   +------------------------------------+------------------------------------+
 *   | records; the first long of a free record is the next free one, or -1    |
 * </pre>
 */
public final class RecordPages {
    private static final int NONE = -1;
    private static final int COUNTS = 0;
    private static final int LINKS = 1;
    private static final int HEADER_LONGS = 2;

    private final LongPages pages;
    private final int recordLongs;
    private final int recordsPerPage;
    private final int pageShift;
    private final int recordMask;
    private int firstWithRoom = NONE;
    private int count;
    /**
     * An empty page kept in reserve, so that repeated allocation and freeing of one record does not allocate and free
     * pages.
     */
    private int spare = NONE;

    /** Creates an empty set of records of this many longs each. */
    public RecordPages(int recordLongs) {
        this(recordLongs, new LongPages());
    }

    private RecordPages(int recordLongs, LongPages pages) {
        this.pages = pages;
        this.recordLongs = recordLongs;
        this.recordsPerPage = recordsPerPage(recordLongs);
        this.pageShift = pageShift(recordsPerPage);
        this.recordMask = (1 << pageShift) - 1;
    }

    /**
     * Returns the maximum number of records if each record has this many longs. The number of pages and the maximum
     * slot of a {@link SlotTable} limit it.
     */
    public static int maxRecords(int recordLongs) {
        int perPage = recordsPerPage(recordLongs);
        return Math.min(LongPages.MAX_PAGES, SlotBucket.MAX_SLOT >>> pageShift(perPage)) * perPage;
    }

    private static int recordsPerPage(int recordLongs) {
        return (LongPages.PAGE_LONGS - HEADER_LONGS) / recordLongs;
    }

    private static int pageShift(int recordsPerPage) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(recordsPerPage - 1);
    }

    /**
     * Returns a frozen view of the current records, which can be read until {@link #thaw} while these records change.
     */
    public RecordPages freeze() {
        return new RecordPages(recordLongs, pages.freeze());
    }

    public void thaw() {
        pages.thaw();
    }

    /** Returns the number of records in use. */
    public int count() {
        return count;
    }

    public long get(int record, int field) {
        return pages.page(record >>> pageShift)[at(record) + field];
    }

    public void set(int record, int field, long value) {
        pageToWrite(record)[at(record) + field] = value;
    }

    /**
     * Returns, for writing, the array that contains the longs of a record, starting at {@link #at}. The record must be
     * in use.
     */
    public long[] pageToWrite(int record) {
        return pages.pageToWrite(record >>> pageShift);
    }

    /** Returns the offset of a record in its {@linkplain #pageToWrite page}. */
    public int at(int record) {
        return HEADER_LONGS + (record & recordMask) * recordLongs;
    }

    /** Allocates a record, and returns its number. The record's longs have undefined values. */
    public int allocate() {
        if (firstWithRoom == NONE) {
            addPage();
        }
        count++;
        int number = firstWithRoom;
        long[] page = pages.pageToWrite(number);
        int record = low(page[COUNTS]);
        page[COUNTS] = pack(high(page[COUNTS]) + 1, (int) page[at(record)]);
        if (low(page[COUNTS]) == NONE) {
            removeFromRoom(number, page);
        }
        if (number == spare) {
            spare = NONE;
        }
        return number << pageShift | record;
    }

    private void addPage() {
        int number = pages.addPage();
        long[] page = pages.pageToWrite(number);
        for (int record = 0; record < recordsPerPage; record++) {
            page[at(record)] = record == recordsPerPage - 1 ? NONE : record + 1;
        }
        addToRoom(number, page);
        spare = number;
    }

    public void free(int record) {
        count--;
        int number = record >>> pageShift;
        long[] page = pages.pageToWrite(number);
        if (low(page[COUNTS]) == NONE) {
            addToRoom(number, page);
        }
        page[at(record)] = low(page[COUNTS]);
        page[COUNTS] = pack(high(page[COUNTS]) - 1, record & recordMask);
        if (high(page[COUNTS]) > 0) {
            return;
        }
        if (spare == NONE) {
            spare = number;
        } else {
            removeFromRoom(number, page);
            pages.releasePage(number);
        }
    }

    private void addToRoom(int number, long[] page) {
        page[LINKS] = pack(NONE, firstWithRoom);
        if (firstWithRoom != NONE) {
            long[] behind = pages.pageToWrite(firstWithRoom);
            behind[LINKS] = pack(number, low(behind[LINKS]));
        }
        firstWithRoom = number;
    }

    private void removeFromRoom(int number, long[] page) {
        int before = high(page[LINKS]);
        int behind = low(page[LINKS]);
        if (before == NONE) {
            firstWithRoom = behind;
        } else {
            long[] links = pages.pageToWrite(before);
            links[LINKS] = pack(high(links[LINKS]), behind);
        }
        if (behind != NONE) {
            long[] links = pages.pageToWrite(behind);
            links[LINKS] = pack(before, low(links[LINKS]));
        }
    }

    private static long pack(int high, int low) {
        return (long) high << Integer.SIZE | low & 0xFFFF_FFFFL;
    }

    private static int high(long packed) {
        return (int) (packed >> Integer.SIZE);
    }

    private static int low(long packed) {
        return (int) packed;
    }

    public long memoryBytes() {
        return pages.memoryBytes();
    }
}
