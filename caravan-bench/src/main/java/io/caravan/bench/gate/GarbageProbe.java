package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import java.io.IOException;
import java.nio.file.Path;

/** Measures the bytes that the producer's thread allocates for each append. All appends share one callback. */
final class GarbageProbe implements Probe {
    private static final int BATCH = 2_000;
    private static final int BATCHES = 20;

    private final Workload workload = Workload.small(1);
    private final ListStore store;

    GarbageProbe(Path directory) throws IOException {
        store = new Stores(true).open(directory, Durability.MEMORY);
        round();
    }

    @Override
    public double round() throws IOException {
        double[] bytes = new double[BATCHES];
        for (int batch = 0; batch < BATCHES; batch++) {
            long before = Costs.allocatedBytes();
            for (int i = 0; i < BATCH; i++) {
                store.append(workload.id(i), workload.value(i), Stores.NOBODY);
            }
            bytes[batch] = (double) (Costs.allocatedBytes() - before) / BATCH;
        }
        Stores.empty(store);
        return Costs.median(bytes);
    }

    @Override
    public void close() {
        store.close();
    }
}
