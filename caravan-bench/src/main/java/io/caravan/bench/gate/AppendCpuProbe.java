package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Measures the producer thread's processor time for a complete append without I/O, divided by the time of a plain copy
 * of the same value.
 */
final class AppendCpuProbe implements Probe {
    private static final int BATCH = 1_000;
    private static final int BATCHES = 30;

    private final Workload workload = Workload.small(1);
    private final MemoryCopy copy = new MemoryCopy(workload);
    private final ListStore store;

    AppendCpuProbe(Path directory) throws IOException {
        store = new Stores(true).open(directory, Durability.MEMORY);
        round();
    }

    @Override
    public double round() throws IOException {
        double append =
                Costs.cpuNanos(BATCHES, BATCH, i -> store.append(workload.id(i), workload.value(i), Stores.NOBODY));
        double copied = copy.nanos();
        Stores.empty(store);
        return append / copied;
    }

    @Override
    public void close() {
        store.close();
    }
}
