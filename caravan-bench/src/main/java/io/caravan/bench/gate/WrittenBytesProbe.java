package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.engine.Engine;
import io.caravan.io.FileStorage;
import io.caravan.testing.FaultStorage;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Measures the bytes written to the log and the heap for each byte appended to documents that receive a snapshot and
 * are trimmed every hundred changes. The ratio is close to that of the log alone, because values trimmed before a
 * checkpoint never move to the heap.
 */
final class WrittenBytesProbe implements Probe {
    private static final int DOCUMENTS = 20;
    private static final int SNAPSHOTS = 10;
    private static final int CHANGES = 100;
    private static final int SNAPSHOT_BYTES = 4 << 10;

    private final Workload workload = Workload.small(1);
    private final byte[] snapshot = new byte[SNAPSHOT_BYTES];
    private final long[] sequences = new long[DOCUMENTS];
    private final FaultStorage storage;
    private final ListStore store;

    WrittenBytesProbe(Path directory) throws IOException {
        storage = new FaultStorage(FileStorage.open(directory, FileStorage.Access.CREATE, any -> {}));
        store = Engine.open(new Stores(true).config(directory, Durability.SYNC).build(), storage, System::nanoTime);
    }

    @Override
    public double round() {
        long before = writtenBytes();
        long appendedBytes = 0;
        for (int i = 0; i < SNAPSHOTS; i++) {
            for (int document = 0; document < DOCUMENTS; document++) {
                appendedBytes += changes(document);
                appendedBytes += snapshot(document);
            }
        }
        store.checkpoint();
        return (double) (writtenBytes() - before) / appendedBytes;
    }

    private long changes(int document) {
        WriteBatch batch = WriteBatch.create();
        long bytes = 0;
        for (int i = 0; i < CHANGES; i++) {
            byte[] change = workload.value(i);
            batch.append(document, change);
            sequences[document]++;
            bytes += change.length;
        }
        store.write(batch).join();
        return bytes;
    }

    private long snapshot(int document) {
        long sequence = sequences[document]++;
        store.write(WriteBatch.create().append(document, snapshot).trimTo(document, sequence))
                .join();
        return SNAPSHOT_BYTES;
    }

    private long writtenBytes() {
        return storage.calls().stream()
                .filter(call -> call.kind() == FaultStorage.Kind.WRITE
                        && (call.file().startsWith("log-") || call.file().startsWith("heap-")))
                .mapToLong(FaultStorage.Call::bytes)
                .sum();
    }

    @Override
    public void close() {
        store.close();
    }
}
