package io.caravan.bench.layers;

import io.caravan.format.EntryLayout;
import io.caravan.heap.IndexedHeap;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Allocates a region for an entry. */
@State(Scope.Thread)
public class HeapBenchmark {
    private static final int SEED = 1;
    /** More than an iteration can allocate. */
    private static final long SPACE_BYTES = 1L << 40;

    private static final int KEPT = 1 << 17;
    private static final int MIN_BYTES = 64;
    private static final int MAX_BYTES = 318;
    private static final int ENTRY_BYTES = EntryLayout.entryBytes(Shape.VALUE_BYTES);

    private final long[] addresses = new long[KEPT];
    private final int[] sizes = new int[KEPT];
    private final SplittableRandom random = new SplittableRandom(SEED);
    private IndexedHeap fresh = new IndexedHeap();
    private IndexedHeap used = new IndexedHeap();
    private int oldest;

    /** Creates an empty heap, and one full of regions of many sizes, trimmed at random. */
    @Setup(Level.Iteration)
    public void prepare() {
        fresh = new IndexedHeap();
        fresh.addSpace(0, SPACE_BYTES);
        used = new IndexedHeap();
        used.addSpace(0, SPACE_BYTES);
        for (int i = 0; i < KEPT; i++) {
            ask(i);
        }
        for (int i = 0; i < 2 * KEPT; i++) {
            replace(random.nextInt(KEPT));
        }
    }

    private void ask(int place) {
        sizes[place] = EntryLayout.entryBytes(MIN_BYTES + random.nextInt(MAX_BYTES - MIN_BYTES + 1));
        addresses[place] = used.allocate(sizes[place]);
    }

    private void replace(int place) {
        used.free(addresses[place], sizes[place]);
        ask(place);
    }

    /** Allocates from the end of a heap without holes. */
    @Benchmark
    public long ask() {
        return fresh.allocate(ENTRY_BYTES);
    }

    /** In a heap full of holes: frees the oldest of 131,072 regions of 64 to 318 bytes, and allocates another one. */
    @Benchmark
    public long askAndFree() {
        oldest = oldest + 1 & KEPT - 1;
        replace(oldest);
        return addresses[oldest];
    }
}
