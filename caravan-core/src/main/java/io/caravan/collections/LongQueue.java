package io.caravan.collections;

import java.util.ArrayDeque;
import java.util.List;

/**
 * A queue of longs in pages, which grows and shrinks without copying them. If all elements are added in groups of the
 * same size, at most three, each group is in one page.
 */
public final class LongQueue {
    private static final int PAGE_LONGS = 3 << 10;

    private final ArrayDeque<long[]> pages = new ArrayDeque<>(List.of(new long[PAGE_LONGS]));
    private int head;
    private int tail;
    private long added;
    private long removed;

    public boolean isEmpty() {
        return added == removed;
    }

    /** Returns the number of elements ever added. */
    public long added() {
        return added;
    }

    /** Returns the number of elements ever removed. */
    public long removed() {
        return removed;
    }

    public void add(long value) {
        if (tail == PAGE_LONGS) {
            pages.add(new long[PAGE_LONGS]);
            tail = 0;
        }
        pages.getLast()[tail++] = value;
        added++;
    }

    /** Returns the element this many places after the first element. Both must be in the same group. */
    public long first(int behind) {
        return pages.getFirst()[head + behind];
    }

    /** Returns the element that was added last. The queue must not be empty. */
    public long last() {
        return pages.getLast()[tail - 1];
    }

    /** Replaces the element that was added last. */
    public void replaceLast(long value) {
        pages.getLast()[tail - 1] = value;
    }

    /** Removes the first {@code count} elements, which must be an entire group of elements that were added together. */
    public void remove(int count) {
        head += count;
        removed += count;
        if (isEmpty()) {
            head = 0;
            tail = 0;
        } else if (head == PAGE_LONGS) {
            pages.remove();
            head = 0;
        }
    }
}
