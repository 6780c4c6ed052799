package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Measures the producer's processor time for an append to a full store, divided by the time for an append to a nearly
 * empty store. Appends use a durability level that does not wait for the disk. Each round fills a new store.
 */
final class FlatnessProbe implements Probe {
    private static final int FEW = 10_000;
    private static final int BATCH = 500;
    private static final int BATCHES = 20;
    private static final int MEASURED = BATCH * BATCHES;

    private final int many;
    private final Path directory;
    private final Workload workload = Workload.small(1);

    FlatnessProbe(Path directory, boolean quick) {
        this.directory = directory;
        many = quick ? 200_000 : 1_000_000;
    }

    @Override
    public double round() throws IOException {
        try (ListStore store = new Stores(true).open(directory, Durability.MEMORY)) {
            append(store, 0, FEW);
            double early = nanos(store, FEW);
            append(store, FEW + MEASURED, many);
            return nanos(store, many) / early;
        } finally {
            WorkDirectories.delete(directory);
        }
    }

    private double nanos(ListStore store, int from) {
        return Costs.cpuNanos(BATCHES, BATCH, i -> append(store, from + i));
    }

    private void append(ListStore store, int from, int to) {
        for (int i = from; i < to; i++) {
            append(store, i);
        }
    }

    private void append(ListStore store, int number) {
        store.append(workload.id(number), workload.value(number), Stores.NO_CALLBACK);
    }
}
