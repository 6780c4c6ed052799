package io.caravan.bench.fragmentation;

import io.caravan.heap.Heap;
import org.HdrHistogram.Histogram;

/**
 * A heap with one hole that nothing fills, the time of each call, and how far into the hole the heap ever reached. The
 * time of reading the clock is in the times.
 */
final class MeasuredHeap {
    /** Far more than any life here takes; pure arithmetic, so it costs nothing. */
    private static final long SPACE_BYTES = 1L << 36;

    private static final int DIGITS = 3;

    private final Heap heap;
    private final Histogram askNanos = new Histogram(DIGITS);
    private final Histogram freeNanos = new Histogram(DIGITS);
    private long extentBytes;
    private long mostUsedBytes;

    MeasuredHeap(Heap heap) {
        this.heap = heap;
        heap.addSpace(0, SPACE_BYTES);
    }

    long allocate(int bytes) {
        long start = System.nanoTime();
        long address = heap.allocate(bytes);
        askNanos.recordValue(System.nanoTime() - start);
        if (address == Heap.NONE) {
            throw new IllegalStateException("no hole of " + bytes + " bytes, though " + heap.freeBytes()
                    + " bytes are free: the heap lost its space");
        }
        extentBytes = Math.max(extentBytes, address + bytes);
        mostUsedBytes = Math.max(mostUsedBytes, heap.usedBytes());
        return address;
    }

    void free(long address, int bytes) {
        long start = System.nanoTime();
        heap.free(address, bytes);
        freeNanos.recordValue(System.nanoTime() - start);
    }

    /** The first address that no region ever reached: the size that the file would have. */
    long extentBytes() {
        return extentBytes;
    }

    long usedBytes() {
        return heap.usedBytes();
    }

    /** The most that was ever used at once. */
    long mostUsedBytes() {
        return mostUsedBytes;
    }

    /** Holes among the regions: all but the endless one. */
    long holes() {
        long[] count = {-1};
        heap.forEachHole((address, bytes) -> count[0]++);
        return count[0];
    }

    /** Times of the calls since the last {@link #forgetTimes()}. */
    Histogram askNanos() {
        return askNanos;
    }

    Histogram freeNanos() {
        return freeNanos;
    }

    void forgetTimes() {
        askNanos.reset();
        freeNanos.reset();
    }

    HeapMap map() {
        return HeapMap.of(heap, extentBytes);
    }
}
