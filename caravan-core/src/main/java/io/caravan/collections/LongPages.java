package io.caravan.collections;

import java.util.Arrays;

/**
 * A growable array of longs in pages: growing adds a page and copies only the short table of pages, and its cost does
 * not rise with what is already there. Not thread-safe.
 */
public final class LongPages {
    private static final int PAGE_SHIFT = 13;
    /** Longs in a page; a run that does not cross a multiple of this lies in one array. */
    public static final int PAGE_LONGS = 1 << PAGE_SHIFT;

    private static final int MAX_PAGES = Integer.MAX_VALUE >>> PAGE_SHIFT;
    /** The most longs that there can ever be room for. */
    public static final int MAX_LONGS = MAX_PAGES << PAGE_SHIFT;

    private static final int PAGE_MASK = PAGE_LONGS - 1;

    private long[][] pages = new long[4][];
    private int pageCount;

    public long get(int index) {
        return pages[index >>> PAGE_SHIFT][index & PAGE_MASK];
    }

    public void set(int index, long value) {
        pages[index >>> PAGE_SHIFT][index & PAGE_MASK] = value;
    }

    /** Copies a run that lies in one page. */
    public void copy(int index, long[] target, int at, int count) {
        System.arraycopy(pages[index >>> PAGE_SHIFT], index & PAGE_MASK, target, at, count);
    }

    /** How many longs there are room for. */
    public int capacity() {
        return pageCount << PAGE_SHIFT;
    }

    /** Adds room for {@link #PAGE_LONGS} more. */
    public void addPage() {
        if (pageCount == MAX_PAGES) {
            throw new IllegalStateException("more than 2^31 longs in one table");
        }
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, pageCount * 2);
        }
        pages[pageCount++] = new long[PAGE_LONGS];
    }

    /** Bytes of memory held. */
    public long memoryBytes() {
        return (long) pageCount * PAGE_LONGS * Long.BYTES + (long) pages.length * Integer.BYTES;
    }
}
