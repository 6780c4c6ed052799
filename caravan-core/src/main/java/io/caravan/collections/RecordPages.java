package io.caravan.collections;

/**
 * Records of a few longs each, numbered from 0 on, in {@link LongPages}. A record that is freed is used again, and a
 * page without records is given back, but for one that the next record goes into. Not thread-safe.
 *
 * <p>The first two longs of a page keep count of it; the pages that have room form a list.
 *
 * <pre>
 *   63                                 32 31                                  0
 *   +------------------------------------+------------------------------------+
 *   | records in use                     | first free record, or -1           |
 *   +------------------------------------+------------------------------------+
 *   | page with room before this, or -1  | page with room behind this, or -1  |
 *   +------------------------------------+------------------------------------+
 *   | records; the first long of a free one is the next free one, or -1       |
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
    /** A page without records that is kept, so that one record that comes and goes does not make and drop pages. */
    private int spare = NONE;

    /** Records of so many longs. */
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
     * How many records of so many longs there can be at once: as many as all pages have, with numbers that a
     * {@link SlotTable} can hold.
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

    /** The records as they are now, to be read while these go on changing, until {@link #thaw}. */
    public RecordPages freeze() {
        return new RecordPages(recordLongs, pages.freeze());
    }

    /** Ends the freezing. */
    public void thaw() {
        pages.thaw();
    }

    /** Records in use. */
    public int count() {
        return count;
    }

    public long get(int record, int field) {
        return pages.page(record >>> pageShift)[at(record) + field];
    }

    public void set(int record, int field, long value) {
        pageToWrite(record)[at(record) + field] = value;
    }

    /** The array that has the longs of a record, which must be in use, from {@link #at} on, to be written to. */
    public long[] pageToWrite(int record) {
        return pages.pageToWrite(record >>> pageShift);
    }

    /** The offset in its {@linkplain #pageToWrite page} at which a record begins. */
    public int at(int record) {
        return HEADER_LONGS + (record & recordMask) * recordLongs;
    }

    /** Takes a record, whose longs may be anything. */
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

    /** Gives a record back. */
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

    /** Bytes of memory in use. */
    public long memoryBytes() {
        return pages.memoryBytes();
    }
}
