package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.report.HandFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Measures the time to append and fsync large values, divided by the time to write and fsync the same number of bytes
 * to a preallocated file, in blocks of 1 MiB. As in {@link ProducerProbe}, the store has already reached its final
 * size, both take several turns in each round, and the shortest time of each counts.
 */
final class LargeValuesProbe implements Probe {
    private static final int ATTEMPTS = 3;
    private static final int BLOCK_BYTES = 1 << 20;

    private final int totalBytes;
    private final int count;
    private final Workload workload;
    private final ListStore store;
    private final HandFile file;
    private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);

    LargeValuesProbe(Path directory, boolean quick, int valueBytes) throws IOException {
        totalBytes = quick ? 16 << 20 : 48 << 20;
        count = totalBytes / valueBytes;
        workload = Workload.ofSize(1, valueBytes);
        WorkDirectories.create(directory);
        file = new HandFile(directory.resolve("by-hand"));
        file.prepare(totalBytes);
        store = new Stores(quick).open(directory.resolve("store"), Durability.SYNC);
        append();
        Stores.empty(store);
    }

    @Override
    public double round() throws IOException {
        long caravan = Long.MAX_VALUE;
        long byHand = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS; i++) {
            caravan = Math.min(caravan, append());
            Stores.empty(store);
            byHand = Math.min(byHand, write());
        }
        return (double) caravan / byHand;
    }

    private long append() {
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            store.append(workload.id(i), workload.value(i), Stores.NO_CALLBACK);
        }
        store.flush();
        return System.nanoTime() - start;
    }

    private long write() throws IOException {
        long start = System.nanoTime();
        for (int position = 0; position < totalBytes; position += BLOCK_BYTES) {
            file.write(block.clear(), position);
            file.fsync();
        }
        return System.nanoTime() - start;
    }

    @Override
    public void close() throws IOException {
        store.close();
        file.close();
    }
}
