package io.caravan.heap;

import java.util.Arrays;
import java.util.BitSet;

/** The heads of the lists of holes, one list for each range of sizes, and a bitmap of the nonempty lists. */
final class SizeBins {
    private static final int NIL = -1;
    /** The size, in units of 8 bytes, below which each size has its own bin. */
    private static final int EXACT = 512;

    private static final int EXACT_LOG2 = Integer.numberOfTrailingZeros(EXACT);
    private static final int SPLIT_LOG2 = 4;
    private static final int COUNT = EXACT + (Long.SIZE - EXACT_LOG2 << SPLIT_LOG2);

    private final int[] heads = new int[COUNT];
    /** The bins that have a hole. */
    private final BitSet filled = new BitSet(COUNT);

    SizeBins() {
        Arrays.fill(heads, NIL);
    }

    /** Returns the bin for holes of this size. All sizes in a bin are smaller than those in the next bin. */
    static int binOf(long units) {
        if (units < EXACT) {
            return (int) units;
        }
        int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(units);
        int split = (int) (units >>> log2 - SPLIT_LOG2) & (1 << SPLIT_LOG2) - 1;
        return EXACT + (log2 - EXACT_LOG2 << SPLIT_LOG2) + split;
    }

    int first(int bin) {
        return heads[bin];
    }

    void setFirst(int bin, int slot) {
        heads[bin] = slot;
        filled.set(bin, slot != NIL);
    }

    /** Returns the first bin at or after this bin that has a hole, or -1. */
    int firstFilledFrom(int bin) {
        return filled.nextSetBit(bin);
    }

    /** Returns the last bin that has a hole, or -1. */
    int lastFilled() {
        return filled.length() - 1;
    }
}
