package io.caravan.collections;

import java.util.Arrays;

/**
 * An array of longs that consists of pages, and grows and shrinks page by page. Growth never copies a page, but
 * occasionally copies the short table of pages. Not thread-safe.
 *
 * <p>The array can be frozen: then two arrays share the same pages, and a shared page is copied before it is changed.
 * Another thread can therefore read the frozen contents while this array continues to change.
 */
public class LongPages {
    private static final int PAGE_SHIFT = 13;
    /** Number of longs in a page. A run of longs that does not cross a multiple of this number lies in one page. */
    public static final int PAGE_LONGS = 1 << PAGE_SHIFT;

    private static final int PAGE_MASK = PAGE_LONGS - 1;
    /** The number of pages that an int can index. */
    public static final int MAX_PAGES = 1 << Integer.SIZE - 1 - PAGE_SHIFT;

    private static final long[] NO_PAGE = {};
    private static final long[][] NOTHING = {};

    private long[][] pages;
    private int pageCount;
    /** The pages at the time of the freeze. */
    private long[][] frozen = NOTHING;
    /** A stack of the numbers of released pages. */
    private int[] released = new int[4];

    private int releasedCount;
    private final int maxPages;

    public LongPages(int maxPages) {
        this.maxPages = maxPages;
        this.pages = new long[4][];
    }

    /**
     * Freezes another array, and creates a view of its current contents. The view can be read until the other array's
     * {@link #thaw}, while that array changes.
     */
    public LongPages(LongPages of) {
        maxPages = of.maxPages;
        pages = of.pages.clone();
        of.frozen = pages;
    }

    /** Ends the freeze. The frozen contents must no longer be read. */
    public final void thaw() {
        frozen = NOTHING;
    }

    /** Returns the number of pages that can still be added. */
    public final int pagesLeft() {
        return maxPages - pageCount + releasedCount;
    }

    public final long get(int index) {
        return pages[index >>> PAGE_SHIFT][index & PAGE_MASK];
    }

    public final void set(int index, long value) {
        pageToWrite(index >>> PAGE_SHIFT)[index & PAGE_MASK] = value;
    }

    /** Returns the page with this number for reading. The page must not have been released. */
    final long[] page(int number) {
        return pages[number];
    }

    /** Returns the page with this number for writing. */
    final long[] pageToWrite(int number) {
        long[] page = pages[number];
        return number < frozen.length && frozen[number] == page ? copyOfFrozen(number) : page;
    }

    /** Copies a frozen page. Separate from {@link #pageToWrite}, so that the compiler inlines that method. */
    private long[] copyOfFrozen(int number) {
        long[] page = frozen[number].clone();
        pages[number] = page;
        return page;
    }

    /** Copies a run of longs, all in one page, to an array. */
    public final void copy(int index, long[] target, int at, int count) {
        System.arraycopy(pages[index >>> PAGE_SHIFT], index & PAGE_MASK, target, at, count);
    }

    /**
     * Adds a page of zeros. Returns its number: that of a released page, if one exists, or else the next number.
     *
     * @throws IllegalStateException if {@linkplain #pagesLeft none is left}
     */
    public final int addPage() {
        int number = releasedCount > 0 ? released[--releasedCount] : nextPage();
        pages[number] = new long[PAGE_LONGS];
        return number;
    }

    private int nextPage() {
        if (pageCount == maxPages) {
            throw new IllegalStateException("all " + maxPages + " pages of a table are in use");
        }
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, pageCount * 2);
        }
        return pageCount++;
    }

    /** Releases a page's memory. Its indexes must not be used until {@link #addPage} returns its number again. */
    public final void releasePage(int number) {
        if (releasedCount == released.length) {
            released = Arrays.copyOf(released, releasedCount * 2);
        }
        released[releasedCount++] = number;
        pages[number] = NO_PAGE;
    }

    /** Returns the memory in use, in bytes, excluding pages that only a frozen view needs. */
    public final long memoryBytes() {
        return (long) (pageCount - releasedCount) * PAGE_LONGS * Long.BYTES
                + (long) (pages.length + released.length) * Integer.BYTES;
    }
}
