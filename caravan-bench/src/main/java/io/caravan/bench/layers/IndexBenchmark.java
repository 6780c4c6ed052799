package io.caravan.bench.layers;

import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Finds the list of an append and adds the new region to it. */
@State(Scope.Thread)
public class IndexBenchmark {
    private static final int ENTRY_BYTES = EntryLayout.entryBytes(Shape.VALUE_BYTES);

    private final int[] ids = Shape.ids();
    private ListIndex index = new ListIndex();
    private int draw;
    private long address;

    /** Starts with empty lists, because their entries would fill the memory over several iterations. */
    @Setup(Level.Iteration)
    public void prepare() {
        index = new ListIndex();
        address = 0;
        for (int id = 0; id < Shape.LISTS; id++) {
            index.create(id, 0, 0);
        }
    }

    /** Finds the list. */
    @Benchmark
    public int find() {
        return index.find(ids[Shape.at(draw++)]);
    }

    /** Finds the list and adds a region to its end. */
    @Benchmark
    public long findAndAppend() {
        int list = index.find(ids[Shape.at(draw++)]);
        long sequence = index.next(list);
        address += ENTRY_BYTES;
        index.append(list, Region.pack(address, Shape.VALUE_BYTES), address);
        return sequence + index.birth(list);
    }
}
