package io.caravan.collections;

import java.util.Arrays;

/**
 * An array of longs in pages, which grows and shrinks page by page: what is already there is never copied, only, now
 * and then, the short table of pages. Not thread-safe.
 *
 * <p>It can be {@linkplain #freeze frozen}: then two tables have the same pages, and a page is copied before it is
 * written to for as long as both still have it. So what is frozen can be read on another thread while this one goes on.
 */
public final class LongPages {
    private static final int PAGE_SHIFT = 13;
    /** Longs in a page; a run that does not cross a multiple of this lies in one array. */
    public static final int PAGE_LONGS = 1 << PAGE_SHIFT;

    private static final int PAGE_MASK = PAGE_LONGS - 1;
    /** The most pages that there can be. */
    public static final int MAX_PAGES = 1 << Integer.SIZE - 1 - PAGE_SHIFT;

    private static final long[] NO_PAGE = {};
    private static final long[][] NOTHING = {};

    private long[][] pages;
    private int pageCount;
    /** The pages as they were frozen. */
    private long[][] frozen = NOTHING;
    /** Numbers of pages that were released, a stack. */
    private int[] released = new int[4];

    private int releasedCount;
    private final int maxPages;

    /** Pages as far as an int can number their longs. */
    public LongPages() {
        this(MAX_PAGES);
    }

    /** At most so many pages. */
    public LongPages(int maxPages) {
        this(maxPages, new long[4][]);
    }

    private LongPages(int maxPages, long[][] pages) {
        this.maxPages = maxPages;
        this.pages = pages;
    }

    /** Returns the present contents, to be read while this array goes on changing, until {@link #thaw}. */
    public LongPages freeze() {
        frozen = pages.clone();
        return new LongPages(maxPages, frozen);
    }

    /** Ends the freezing: what was frozen is not read any more. */
    public void thaw() {
        frozen = NOTHING;
    }

    /** How many pages can still be added. */
    public int pagesLeft() {
        return maxPages - pageCount + releasedCount;
    }

    public long get(int index) {
        return pages[index >>> PAGE_SHIFT][index & PAGE_MASK];
    }

    public void set(int index, long value) {
        pageToWrite(index >>> PAGE_SHIFT)[index & PAGE_MASK] = value;
    }

    /** The page with this number, which must not have been released, to be read. */
    long[] page(int number) {
        return pages[number];
    }

    /** The same, to be written to. */
    long[] pageToWrite(int number) {
        long[] page = pages[number];
        return number < frozen.length && frozen[number] == page ? copyOfFrozen(number) : page;
    }

    /** Apart from {@link #pageToWrite}, which the compiler inlines while it is small. */
    private long[] copyOfFrozen(int number) {
        long[] page = frozen[number].clone();
        pages[number] = page;
        return page;
    }

    /** Copies a run that lies in one page. */
    public void copy(int index, long[] target, int at, int count) {
        System.arraycopy(pages[index >>> PAGE_SHIFT], index & PAGE_MASK, target, at, count);
    }

    /**
     * Adds a page of zeros. Returns its number: that of a page which was released, or else the next.
     *
     * @throws IllegalStateException when there are {@linkplain #pagesLeft none left}
     */
    public int addPage() {
        if (releasedCount > 0) {
            int number = released[--releasedCount];
            pages[number] = new long[PAGE_LONGS];
            return number;
        }
        if (pageCount == maxPages) {
            throw new IllegalStateException("all " + maxPages + " pages of a table are in use");
        }
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, pageCount * 2);
        }
        pages[pageCount] = new long[PAGE_LONGS];
        return pageCount++;
    }

    /** Gives a page's memory back. Its indexes must not be used until {@link #addPage} returns its number again. */
    public void releasePage(int number) {
        if (releasedCount == released.length) {
            released = Arrays.copyOf(released, releasedCount * 2);
        }
        released[releasedCount++] = number;
        pages[number] = NO_PAGE;
    }

    /** Bytes of memory in use, but for what only a frozen table still has. */
    public long memoryBytes() {
        return (long) (pageCount - releasedCount) * PAGE_LONGS * Long.BYTES
                + (long) (pages.length + released.length) * Integer.BYTES;
    }
}
