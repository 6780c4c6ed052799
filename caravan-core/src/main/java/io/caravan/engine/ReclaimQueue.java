package io.caravan.engine;

import org.jspecify.annotations.Nullable;

/**
 * Trimmed lists whose regions wait to be freed: which list, up to which sequence, and the LSN of the trim, before whose
 * force nothing of it is freed. A chain of pages, so that it grows without copying, in the order of the log.
 */
final class ReclaimQueue {
    private static final int ENTRY_LONGS = 3;
    private static final int PAGE_LONGS = 1024 * ENTRY_LONGS;

    private static final class Page {
        final long[] longs = new long[PAGE_LONGS];

        @Nullable
        Page next;
    }

    private Page first = new Page();
    private Page last = first;
    private int head;
    private int tail;

    boolean isEmpty() {
        return first == last && head == tail;
    }

    void add(int list, long to, long lsn) {
        if (tail == PAGE_LONGS) {
            Page added = new Page();
            last.next = added;
            last = added;
            tail = 0;
        }
        last.longs[tail] = list;
        last.longs[tail + 1] = to;
        last.longs[tail + 2] = lsn;
        tail += ENTRY_LONGS;
    }

    int list() {
        return (int) first.longs[head];
    }

    long to() {
        return first.longs[head + 1];
    }

    long lsn() {
        return first.longs[head + 2];
    }

    void removeFirst() {
        head += ENTRY_LONGS;
        if (isEmpty()) {
            head = 0;
            tail = 0;
        } else if (head == PAGE_LONGS && first.next != null) {
            first = first.next;
            head = 0;
        }
    }
}
