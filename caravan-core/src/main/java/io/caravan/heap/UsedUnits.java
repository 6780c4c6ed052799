package io.caravan.heap;

import java.util.Arrays;
import java.util.BitSet;

/** A bitmap of the used units of 8 bytes in a range of address space. */
final class UsedUnits {
    private static final int UNIT_SHIFT = 3;
    private static final int WORD_SHIFT = 6;

    private final long[] words;
    private final int units;

    /** Creates a range of this many bytes, all unused. */
    UsedUnits(int bytes) {
        units = bytes >>> UNIT_SHIFT;
        words = new long[(units + Long.SIZE - 1) >>> WORD_SHIFT];
    }

    void clear() {
        Arrays.fill(words, 0);
    }

    /**
     * Marks bytes as used. Returns whether all of them were unused.
     *
     * @param offset the start, a multiple of 8
     * @param bytes the number of bytes, a multiple of 8
     */
    boolean mark(int offset, int bytes) {
        int from = offset >>> UNIT_SHIFT;
        int last = from + (bytes >>> UNIT_SHIFT) - 1;
        long head = -1L << from;
        long tail = -1L >>> (Long.SIZE - 1 - last);
        int first = from >>> WORD_SHIFT;
        int end = last >>> WORD_SHIFT;
        if (first == end) {
            return mark(first, head & tail);
        }
        boolean free = mark(first, head);
        for (int word = first + 1; word < end; word++) {
            free &= mark(word, -1L);
        }
        return free & mark(end, tail);
    }

    private boolean mark(int word, long bits) {
        boolean free = (words[word] & bits) == 0;
        words[word] |= bits;
        return free;
    }

    /** Calls the visitor with each run of unused bytes, in order. */
    void forEachGap(IndexedHeap.HoleVisitor visitor) {
        BitSet used = BitSet.valueOf(words);
        int from = used.nextClearBit(0);
        while (from < units) {
            int next = used.nextSetBit(from);
            int end = next < 0 ? units : next;
            visitor.hole((long) from << UNIT_SHIFT, (long) (end - from) << UNIT_SHIFT);
            from = used.nextClearBit(end);
        }
    }
}
