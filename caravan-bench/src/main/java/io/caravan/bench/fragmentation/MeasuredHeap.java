package io.caravan.bench.fragmentation;

import io.caravan.heap.Heap;
import org.HdrHistogram.Histogram;

/**
 * A heap with one endless hole; records the time of each call, and how far into the hole the heap has ever reached.
 * Times include reading the clock.
 */
final class MeasuredHeap {
    /** Far more than any life here needs; no memory is allocated for it. */
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

    /** The first address that no region has ever reached: the size of the file. */
    long extentBytes() {
        return extentBytes;
    }

    long usedBytes() {
        return heap.usedBytes();
    }

    /** The most bytes ever used at once. */
    long mostUsedBytes() {
        return mostUsedBytes;
    }

    /** Number of holes between regions, without the endless one. */
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
