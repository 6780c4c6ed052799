package io.caravan.bench.gate;

import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.bench.CountingStorage;
import io.caravan.bench.engine.Workload;
import io.caravan.engine.Engine;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.file.Path;

/** The flusher's forces of files, over the appends of a writer that waits for each: one, unless a segment ends. */
final class ForcesPerFlushProbe implements Probe {
    private static final int COUNT = 50;
    private static final int SEGMENT_BYTES = 8 << 20;

    private final Workload workload = Workload.small(1);
    private final CountingStorage storage;
    private final ListStore store;

    ForcesPerFlushProbe(Path directory) throws IOException {
        storage = new CountingStorage(FileStorage.openOrCreate(directory));
        StoreConfig config = StoreConfig.builder(directory)
                .logSegmentBytes(SEGMENT_BYTES)
                .heapSegmentBytes(SEGMENT_BYTES)
                .build();
        store = Engine.open(config, storage, System::nanoTime);
    }

    @Override
    public double round() {
        long before = storage.flusherForces();
        for (int i = 0; i < COUNT; i++) {
            store.append(workload.id(i), workload.value(i)).join();
        }
        return (double) (storage.flusherForces() - before) / COUNT;
    }

    @Override
    public void close() {
        store.close();
    }
}
