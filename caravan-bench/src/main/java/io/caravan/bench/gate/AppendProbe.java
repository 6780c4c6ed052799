package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.IntConsumer;
import java.util.function.ToDoubleFunction;

/** Measures the cost of complete appends without I/O. All appends share one callback. */
final class AppendProbe implements Probe {
    private static final Workload WORKLOAD = Workload.small(1);

    private final ListStore store;
    private final ToDoubleFunction<IntConsumer> cost;

    private AppendProbe(Path directory, ToDoubleFunction<IntConsumer> cost) throws IOException {
        this.cost = cost;
        store = new Stores(true).open(directory, Durability.MEMORY);
        round();
    }

    /**
     * Returns a probe that divides the producer thread's processor time for an append by the processor time for a plain
     * copy of the same value.
     */
    static AppendProbe cpu(Path directory) throws IOException {
        LayerProbe.MemoryCopy copy = new LayerProbe.MemoryCopy(WORKLOAD);
        return new AppendProbe(directory, append -> Costs.cpuNanos(30, 1_000, append) / copy.nanos());
    }

    /** Returns a probe that measures how many bytes the producer's thread allocates for each append. */
    static AppendProbe garbage(Path directory) throws IOException {
        // Each batch appends the same values, so that the index grows by the same amount.
        return new AppendProbe(directory, append -> Costs.allocatedBytes(20, 2_000, i -> append.accept(i % 2_000)));
    }

    @Override
    public double round() throws IOException {
        double each = cost.applyAsDouble(i -> store.append(WORKLOAD.id(i), WORKLOAD.value(i), Stores.NO_CALLBACK));
        Stores.empty(store);
        return each;
    }

    @Override
    public void close() {
        store.close();
    }
}
