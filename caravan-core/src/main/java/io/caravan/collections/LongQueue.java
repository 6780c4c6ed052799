package io.caravan.collections;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of longs in a chain of pages, which grows and shrinks without copying. If all elements are added in groups of
 * the same size, at most three, each group is in one page.
 */
public final class LongQueue {
    private static final int PAGE_LONGS = 3 << 10;

    private static final class Page {
        final long[] longs = new long[PAGE_LONGS];

        @Nullable
        Page next;
    }

    private Page first = new Page();
    private Page last = first;
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
            Page page = new Page();
            last.next = page;
            last = page;
            tail = 0;
        }
        last.longs[tail++] = value;
        added++;
    }

    /** Returns the element this many places after the first element. Both must be in the same group. */
    public long first(int behind) {
        return first.longs[head + behind];
    }

    /** Returns the element that was added last. The queue must not be empty. */
    public long last() {
        return last.longs[tail - 1];
    }

    /** Replaces the element that was added last. */
    public void replaceLast(long value) {
        last.longs[tail - 1] = value;
    }

    /** Removes the first {@code count} elements, which must be an entire group of elements that were added together. */
    public void remove(int count) {
        head += count;
        removed += count;
        if (isEmpty()) {
            head = 0;
            tail = 0;
        } else if (head == PAGE_LONGS && first.next != null) {
            first = first.next;
            head = 0;
        }
    }

    /** Calls the action with each element, starting with the first. */
    public void forEach(LongConsumer action) {
        int at = head;
        for (Page page = first; page != null; page = page.next) {
            int end = page == last ? tail : PAGE_LONGS;
            for (; at < end; at++) {
                action.accept(page.longs[at]);
            }
            at = 0;
        }
    }
}
