package io.caravan.bench.fragmentation;

import io.caravan.format.Region;
import java.util.Arrays;

/** The regions of one document, oldest first. */
final class LiveDocument {
    private static final int FEW = 16;

    private final MeasuredHeap heap;
    private long[] regions = new long[FEW];
    private int count;

    LiveDocument(MeasuredHeap heap) {
        this.heap = heap;
    }

    /** Appends a value; returns the bytes that it occupies in the heap. */
    int append(int length) {
        if (count == regions.length) {
            regions = Arrays.copyOf(regions, 2 * count);
        }
        int bytes = Region.entryBytes(Region.pack(0, length));
        regions[count++] = Region.pack(heap.allocate(bytes), length);
        return bytes;
    }

    /** Drops all but the newest values. */
    void trimTo(int kept) {
        int dropped = count - kept;
        for (int i = 0; i < dropped; i++) {
            heap.free(Region.address(regions[i]), Region.entryBytes(regions[i]));
        }
        System.arraycopy(regions, dropped, regions, 0, kept);
        count = kept;
    }
}
