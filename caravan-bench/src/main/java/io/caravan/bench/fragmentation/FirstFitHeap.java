package io.caravan.bench.fragmentation;

import io.caravan.heap.Heap;
import org.jspecify.annotations.Nullable;

/**
 * The textbook heap: a linked list of holes in address order. An allocation takes the start of the first hole that is
 * large enough; a freed region is inserted in order and merged with adjacent holes. Both walk the list, so their cost
 * grows with the number of holes.
 */
final class FirstFitHeap implements Heap {

    private static final class Hole {
        private long address;
        private long bytes;
        private @Nullable Hole next;

        Hole(long address, long bytes, @Nullable Hole next) {
            this.address = address;
            this.bytes = bytes;
            this.next = next;
        }

        long end() {
            return address + bytes;
        }
    }

    /** A sentinel before the first hole, so that each hole has a predecessor; no region starts at its end. */
    private final Hole head = new Hole(-1, 0, null);

    private long totalBytes;
    private long freeBytes;

    @Override
    public long allocate(int bytes) {
        Hole before = head;
        for (Hole hole = head.next; hole != null; hole = hole.next) {
            if (hole.bytes >= bytes) {
                return takeFront(before, hole, bytes);
            }
            before = hole;
        }
        return NONE;
    }

    private long takeFront(Hole before, Hole hole, int bytes) {
        long address = hole.address;
        hole.address += bytes;
        hole.bytes -= bytes;
        freeBytes -= bytes;
        if (hole.bytes == 0) {
            before.next = hole.next;
        }
        return address;
    }

    @Override
    public void free(long address, int bytes) {
        Hole before = lastBefore(address);
        Hole freed = insertAfter(before, address, bytes);
        joinNext(freed);
        joinNext(before);
    }

    private static void joinNext(Hole hole) {
        Hole next = hole.next;
        if (next != null && hole.end() == next.address) {
            hole.bytes += next.bytes;
            hole.next = next.next;
        }
    }

    private Hole lastBefore(long address) {
        Hole before = head;
        for (Hole hole = head.next; hole != null && hole.address < address; hole = hole.next) {
            before = hole;
        }
        return before;
    }

    private Hole insertAfter(Hole before, long address, long bytes) {
        Hole hole = new Hole(address, bytes, before.next);
        before.next = hole;
        freeBytes += bytes;
        return hole;
    }

    @Override
    public void addSpace(long address, long bytes) {
        totalBytes += bytes;
        insertAfter(lastBefore(address), address, bytes);
    }

    @Override
    public boolean removeSpace(long address, long bytes) {
        Hole before = lastBefore(address);
        Hole hole = before.next;
        if (hole == null || hole.address != address || hole.bytes != bytes) {
            return false;
        }
        before.next = hole.next;
        freeBytes -= bytes;
        totalBytes -= bytes;
        return true;
    }

    @Override
    public long usedBytes() {
        return totalBytes - freeBytes;
    }

    @Override
    public long freeBytes() {
        return freeBytes;
    }

    @Override
    public long largestHoleBytes() {
        long largest = 0;
        for (Hole hole = head.next; hole != null; hole = hole.next) {
            largest = Math.max(largest, hole.bytes);
        }
        return largest;
    }

    @Override
    public void forEachHole(HoleVisitor visitor) {
        for (Hole hole = head.next; hole != null; hole = hole.next) {
            visitor.hole(hole.address, hole.bytes);
        }
    }
}
