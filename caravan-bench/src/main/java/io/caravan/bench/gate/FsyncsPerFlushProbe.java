package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.engine.Engine;
import io.caravan.io.FileStorage;
import io.caravan.testing.FaultStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the flusher's fsyncs per append, with one writer that waits for every append. The expected result is 1,
 * unless a log segment ends.
 */
final class FsyncsPerFlushProbe implements Probe {
    private static final int COUNT = 50;
    private static final String FLUSHER = "caravan-flusher";

    private final Workload workload = Workload.small(1);
    private final AtomicLong fsyncs = new AtomicLong();
    private final ListStore store;

    FsyncsPerFlushProbe(Path directory) throws IOException {
        FaultStorage storage = new FaultStorage(FileStorage.open(directory, FileStorage.Access.CREATE, any -> {}));
        storage.fail(this::count);
        store = Engine.open(new Stores(true).config(directory, Durability.SYNC).build(), storage, System::nanoTime);
    }

    /** Counts the flusher's fsyncs, and lets every call succeed. */
    private boolean count(FaultStorage.Call call) {
        if (call.kind() == FaultStorage.Kind.FORCE
                && Thread.currentThread().getName().startsWith(FLUSHER)) {
            fsyncs.incrementAndGet();
        }
        return false;
    }

    @Override
    public double round() {
        long before = fsyncs.get();
        for (int i = 0; i < COUNT; i++) {
            store.append(workload.id(i), workload.value(i)).join();
        }
        return (double) (fsyncs.get() - before) / COUNT;
    }

    @Override
    public void close() {
        store.close();
    }
}
