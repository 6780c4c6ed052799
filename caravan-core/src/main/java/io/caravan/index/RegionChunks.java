package io.caravan.index;

import io.caravan.collections.LongPages;

/**
 * Stores packed regions in linked chunks, which form the region tables of lists. The size of a chunk is a power of two,
 * at least two longs: a header, followed by regions.
 *
 * <pre>
 *   63                       32 31           9  8  7       0
 *   +--------------------------+--------------+---+---------+
 *   | next chunk, or 0         | 0            | F | log2    |   F: the chunk is free, and its second long is
 *   +--------------------------+--------------+---+---------+      the free chunk of this size before it, or 0
 * </pre>
 *
 * <p>Neither growth nor freeing copies a region. Chunks result from repeated halving of a page. A freed chunk merges
 * with the other half of the chunk from which it was cut as soon as the other half is also free. This is the buddy
 * system (Knuth, The Art of Computer Programming, volume 1, section 2.5). Entirely free pages are released, except for
 * one. Allocating and freeing take at most a dozen steps each.
 */
final class RegionChunks extends LongPages {
    static final int NONE = 0;
    /** The binary logarithm of the size of a list's first chunk: small, because many lists have one entry. */
    private static final int FIRST_LOG2 = 1;
    /** The binary logarithm of the minimum size of other chunks. With smaller ones, each entry is a cache miss. */
    private static final int MIN_LOG2 = 2;
    /** Number of entries at which the minimum size doubles, because an unused part of a chunk then matters little. */
    private static final int SOME_ENTRIES = 24;

    private static final int MAX_LOG2 = 12;
    /** The binary logarithm of the factor by which a chunk is smaller than its list, so that little stays unused. */
    private static final int GROWTH_LOG2 = 2;

    private static final int PAGE_LOG2 = Integer.numberOfTrailingZeros(PAGE_LONGS);
    private static final int LOG2 = 0xFF;
    private static final int FREE = 0x100;

    /** The first free chunk of each size, or {@link #NONE}. */
    private final int[] firstFree = new int[PAGE_LOG2 + 1];

    /** Freezes other chunks, and creates a view of them; see {@link LongPages#LongPages(LongPages)}. */
    RegionChunks(RegionChunks of) {
        super(of);
    }

    RegionChunks(int maxPages) {
        super(maxPages);
        // The lower halves of the first page are never allocated, because they would include the chunk numbered NONE.
        addPage();
        for (int log2 = PAGE_LOG2 - 1; log2 >= FIRST_LOG2; log2--) {
            link(1 << log2, log2);
        }
    }

    /** Returns the number of chunks that can be allocated even if all of them have the maximum size of half a page. */
    int left() {
        return (int) Math.min(Integer.MAX_VALUE, freePages() * 2);
    }

    /**
     * Whether this many more entries in this many lists fit. All chunks of a list except the last are full. In the
     * smallest chunks, the headers take one long for each entry. The chunks of a page fill the page, except for less
     * than one chunk.
     */
    boolean hasRoom(long entries, long lists) {
        long longs = 2 * entries + (lists << MAX_LOG2);
        return longs <= (freePages() - 1) * PAGE_LONGS;
    }

    /** Returns the number of pages that can still be added, plus the free page that is kept, if any. */
    private long freePages() {
        return pagesLeft() + (firstFree[PAGE_LOG2] == NONE ? 0 : 1);
    }

    /** Allocates a chunk for the end of a list that has this many entries. */
    int allocate(long entries) {
        return allocateOf(Math.min(growth(entries), MAX_LOG2));
    }

    private static int growth(long entries) {
        int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(entries, 1)) - GROWTH_LOG2;
        return Math.max(log2, smallest(entries));
    }

    /**
     * Allocates a chunk as {@link #allocate} does, or the largest chunk that {@code more} entries, at least one, fill,
     * if that is larger.
     */
    int allocateFilled(long entries, int more) {
        int filled = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(more + 1);
        return allocateOf(Math.min(Math.max(filled, growth(entries)), MAX_LOG2));
    }

    private static int smallest(long entries) {
        if (entries == 0) {
            return FIRST_LOG2;
        }
        return entries < SOME_ENTRIES ? MIN_LOG2 : MIN_LOG2 + 1;
    }

    private int allocateOf(int log2) {
        int found = log2;
        while (found < PAGE_LOG2 && firstFree[found] == NONE) {
            found++;
        }
        if (firstFree[found] == NONE) {
            link(addPage() << PAGE_LOG2, PAGE_LOG2);
        }
        int chunk = firstFree[found];
        unlink(chunk, found);
        while (found > log2) {
            found--;
            link(chunk + (1 << found), found);
        }
        set(chunk, log2);
        return chunk;
    }

    void free(int chunk) {
        int merged = chunk;
        int log2 = log2(chunk);
        while (log2 < PAGE_LOG2 && isFree(merged ^ 1 << log2, log2)) {
            unlink(merged ^ 1 << log2, log2);
            merged &= ~(1 << log2);
            log2++;
        }
        if (log2 == PAGE_LOG2 && firstFree[PAGE_LOG2] != NONE) {
            releasePage(merged >>> PAGE_LOG2);
        } else {
            link(merged, log2);
        }
    }

    private boolean isFree(int chunk, int log2) {
        return ((int) get(chunk) & (FREE | LOG2)) == (FREE | log2);
    }

    private void link(int chunk, int log2) {
        int behind = firstFree[log2];
        set(chunk, (long) behind << Integer.SIZE | FREE | log2);
        set(chunk + 1, NONE);
        if (behind != NONE) {
            set(behind + 1, chunk);
        }
        firstFree[log2] = chunk;
    }

    private void unlink(int chunk, int log2) {
        int before = (int) get(chunk + 1);
        int behind = next(chunk);
        if (before == NONE) {
            firstFree[log2] = behind;
        } else {
            set(before, (long) behind << Integer.SIZE | FREE | log2);
        }
        if (behind != NONE) {
            set(behind + 1, before);
        }
    }

    /** Returns the binary logarithm of the size of a chunk. */
    int log2(int chunk) {
        return (int) get(chunk) & LOG2;
    }

    /** Returns the number of regions that fit in a chunk. */
    int capacity(int chunk) {
        return (1 << log2(chunk)) - 1;
    }

    int next(int chunk) {
        return (int) (get(chunk) >>> Integer.SIZE);
    }

    void setNext(int chunk, int next) {
        set(chunk, (long) next << Integer.SIZE | log2(chunk));
    }

    long region(int chunk, int at) {
        return get(chunk + 1 + at);
    }

    void setRegion(int chunk, int at, long region) {
        set(chunk + 1 + at, region);
    }

    void copy(int chunk, int at, long[] target, int targetAt, int count) {
        copy(chunk + 1 + at, target, targetAt, count);
    }
}
