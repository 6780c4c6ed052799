package io.caravan.engine;

/**
 * Trimmed lists whose regions wait to be freed: which list, up to which sequence, and the LSN of the trim, before whose
 * force nothing of it is freed. A ring that grows; in the order of the log.
 */
final class ReclaimQueue {
    private static final int ENTRY_LONGS = 3;

    private long[] ring = new long[64 * ENTRY_LONGS];
    private int head;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(int list, long to, long lsn) {
        if (size * ENTRY_LONGS == ring.length) {
            grow();
        }
        int at = (head + size * ENTRY_LONGS) % ring.length;
        ring[at] = list;
        ring[at + 1] = to;
        ring[at + 2] = lsn;
        size++;
    }

    private void grow() {
        long[] larger = new long[ring.length * 2];
        System.arraycopy(ring, head, larger, 0, ring.length - head);
        System.arraycopy(ring, 0, larger, ring.length - head, head);
        ring = larger;
        head = 0;
    }

    int list() {
        return (int) ring[head];
    }

    long to() {
        return ring[head + 1];
    }

    long lsn() {
        return ring[head + 2];
    }

    void removeFirst() {
        head = (head + ENTRY_LONGS) % ring.length;
        size--;
    }
}
