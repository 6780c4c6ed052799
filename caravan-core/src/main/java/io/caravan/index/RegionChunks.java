package io.caravan.index;

import io.caravan.collections.LongPages;
import java.util.Arrays;

/**
 * Chunks of packed regions, the links of a list's region table. A chunk is a power of two of longs: a head and then
 * regions.
 *
 * <pre>
 *   63                       32 31             8 7       0
 *   +--------------------------+----------------+---------+
 *   | next chunk, or 0         | 0              | log2    |
 *   +--------------------------+----------------+---------+
 * </pre>
 *
 * <p>Chunks are cut from pages and go back to a list for their size, so neither growing nor freeing ever copies a
 * region.
 */
final class RegionChunks {
    static final int NONE = 0;
    /** The first chunk, as many lists have one entry. */
    private static final int FIRST_LOG2 = 1;
    /** The others at least: of smaller ones a walk through the list would be a cache miss for each entry. */
    private static final int MIN_LOG2 = 2;
    /** From so many entries on chunks are twice as large: what is unused in the last one no longer matters. */
    private static final int SOME_ENTRIES = 24;

    private static final int MAX_LOG2 = 12;
    /** A new chunk is this much smaller (as a power of two) than the list already is, so little of it is ever unused. */
    private static final int GROWTH_LOG2 = 2;

    private final LongPages words = new LongPages();
    private final int[] freeBySize = new int[MAX_LOG2 + 1];
    /** Longs used from the start; the first few stay unused so that no chunk has the number {@link #NONE}. */
    private int used = 1 << MAX_LOG2;

    /** A new chunk at the end of a list of this many entries. */
    int allocate(long entries) {
        int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(entries, 1)) - GROWTH_LOG2;
        return allocateOf(Math.min(Math.max(log2, smallest(entries)), MAX_LOG2));
    }

    private static int smallest(long entries) {
        if (entries == 0) {
            return FIRST_LOG2;
        }
        return entries < SOME_ENTRIES ? MIN_LOG2 : MIN_LOG2 + 1;
    }

    private int allocateOf(int log2) {
        int chunk = freeBySize[log2];
        if (chunk != NONE) {
            freeBySize[log2] = next(chunk);
        } else {
            chunk = cut(log2);
        }
        words.set(chunk, log2);
        return chunk;
    }

    /** Cuts a chunk from the unused end; what its alignment skips becomes smaller free chunks. */
    private int cut(int log2) {
        int longs = 1 << log2;
        while ((used & longs - 1) != 0) {
            int filler = Integer.numberOfTrailingZeros(used);
            int chunk = take(1 << filler);
            words.set(chunk, filler);
            free(chunk);
        }
        return take(longs);
    }

    private int take(int longs) {
        while (used + longs > words.capacity()) {
            words.addPage();
        }
        int chunk = used;
        used += longs;
        return chunk;
    }

    void free(int chunk) {
        int log2 = log2(chunk);
        words.set(chunk, (long) freeBySize[log2] << Integer.SIZE | log2);
        freeBySize[log2] = chunk;
    }

    private int log2(int chunk) {
        return (int) words.get(chunk) & 0xFF;
    }

    /** How many regions a chunk has room for. */
    int capacity(int chunk) {
        return (1 << log2(chunk)) - 1;
    }

    int next(int chunk) {
        return (int) (words.get(chunk) >>> Integer.SIZE);
    }

    void setNext(int chunk, int next) {
        words.set(chunk, (long) next << Integer.SIZE | log2(chunk));
    }

    long region(int chunk, int at) {
        return words.get(chunk + 1 + at);
    }

    void setRegion(int chunk, int at, long region) {
        words.set(chunk + 1 + at, region);
    }

    void copy(int chunk, int at, long[] target, int targetAt, int count) {
        words.copy(chunk + 1 + at, target, targetAt, count);
    }

    long memoryBytes() {
        return words.memoryBytes();
    }

    @Override
    public String toString() {
        return "RegionChunks[used=" + used + ", free=" + Arrays.toString(freeBySize) + "]";
    }
}
