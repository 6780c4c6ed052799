package io.caravan.bench.fragmentation;

import io.caravan.heap.Heap;
import java.util.Arrays;

/**
 * How full a heap is, slice by slice of its address space.
 *
 * @param shares the used share of each slice, from 0 to 1
 */
record HeapMap(double[] shares) {
    /** About ten appends. */
    static final int SLICE_BYTES = 2048;

    /** Creates the map from address 0 to the extent. */
    static HeapMap of(Heap heap, long extentBytes) {
        double[] shares = new double[(int) ((extentBytes + SLICE_BYTES - 1) / SLICE_BYTES)];
        Arrays.fill(shares, 1);
        heap.forEachHole((address, bytes) -> subtract(shares, address, address + bytes));
        return new HeapMap(shares);
    }

    private static void subtract(double[] shares, long from, long to) {
        long end = Math.min(to, (long) shares.length * SLICE_BYTES);
        for (long at = from; at < end; ) {
            int slice = (int) (at / SLICE_BYTES);
            long next = Math.min(end, (slice + 1L) * SLICE_BYTES);
            shares[slice] -= (double) (next - at) / SLICE_BYTES;
            at = next;
        }
    }
}
