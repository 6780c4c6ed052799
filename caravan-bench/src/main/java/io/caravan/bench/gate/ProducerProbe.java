package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.HandFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Measures the time from the first append of one producer, which does not wait for each append, until all appends are
 * fsynced, divided by the time that a reference takes for the same values. The store is filled and emptied before each
 * measurement, so that it has already reached its final size.
 *
 * <p>Other disk activity may affect only one of the two. Both therefore take several turns in each round, and the
 * shortest time of each counts.
 */
final class ProducerProbe implements Probe {
    private static final int ATTEMPTS = 3;
    private static final int BLOCK_BYTES = 1 << 20;

    private final int count;
    private final Workload workload;
    private final ListStore store;
    private final Reference reference;

    /** Stores the same values in another way. */
    @FunctionalInterface
    private interface Reference {
        /** Returns the time that this takes. */
        long nanos() throws IOException;
    }

    private ProducerProbe(Path directory, Stores stores, Workload workload, int count, Reference reference)
            throws IOException {
        this.count = count;
        this.workload = workload;
        this.reference = reference;
        store = stores.open(directory.resolve("store"), Durability.SYNC);
        produce();
        Stores.empty(store);
    }

    /** Returns a probe that appends small values. The reference is a Chronicle Queue, which does not fsync. */
    static ProducerProbe overQueue(Path directory, boolean quick) throws IOException {
        WorkDirectories.create(directory);
        Workload workload = Workload.small(1);
        int count = quick ? 50_000 : 100_000;
        Path queue = directory.resolve("queue");
        return new ProducerProbe(directory, new Stores(false), workload, count, () -> enqueue(queue, workload, count));
    }

    private static long enqueue(Path queue, Workload workload, int count) throws IOException {
        try (PeerStore peer = Peer.CHRONICLE.open(queue, false)) {
            long start = System.nanoTime();
            for (int i = 0; i < count; i++) {
                peer.append(workload.id(i), workload.value(i));
            }
            return System.nanoTime() - start;
        } finally {
            WorkDirectories.delete(queue);
        }
    }

    /** Returns a probe that appends large values. The reference writes and fsyncs a file, in blocks of 1 MiB. */
    static ProducerProbe overFile(Path directory, boolean quick, int valueBytes) throws IOException {
        WorkDirectories.create(directory);
        int bytes = quick ? 16 << 20 : 48 << 20;
        Path file = directory.resolve("by-hand");
        Workload workload = Workload.ofSize(1, valueBytes);
        return new ProducerProbe(directory, new Stores(quick), workload, bytes / valueBytes, () -> write(file, bytes));
    }

    private static long write(Path path, int bytes) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
        try (HandFile file = new HandFile(path)) {
            file.prepare(bytes);
            long start = System.nanoTime();
            for (int position = 0; position < bytes; position += BLOCK_BYTES) {
                file.write(block.clear(), position);
                file.fsync();
            }
            return System.nanoTime() - start;
        }
    }

    @Override
    public double round() throws IOException {
        long caravan = Long.MAX_VALUE;
        long other = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS; i++) {
            caravan = Math.min(caravan, produce());
            Stores.empty(store);
            other = Math.min(other, reference.nanos());
        }
        return (double) caravan / other;
    }

    private long produce() {
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            store.append(workload.id(i), workload.value(i), Stores.NO_CALLBACK);
        }
        store.flush();
        return System.nanoTime() - start;
    }

    @Override
    public void close() {
        store.close();
    }
}
