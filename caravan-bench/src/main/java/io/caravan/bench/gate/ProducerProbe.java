package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerStore;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Measures the time from the first append of one producer, which does not wait for each append, until all appends are
 * fsynced. The reference is a Chronicle Queue with the same values and no fsync. Caravan's store is filled and emptied
 * before each measurement, so that it has already reached its final size.
 *
 * <p>Only Caravan waits for the disk, so other disk activity would affect only the time of Caravan. Both stores
 * therefore take several turns in each round, and the shortest time of each store counts.
 */
final class ProducerProbe implements Probe {
    private static final int ATTEMPTS = 3;

    private final int count;
    private final Workload workload = Workload.small(1);
    private final ListStore store;
    private final Path queue;

    ProducerProbe(Path directory, boolean quick) throws IOException {
        WorkDirectories.create(directory);
        count = quick ? 50_000 : 100_000;
        store = new Stores(false).open(directory.resolve("store"), Durability.SYNC);
        queue = directory.resolve("queue");
        produce();
        Stores.empty(store);
    }

    @Override
    public double round() throws IOException {
        long caravan = Long.MAX_VALUE;
        long chronicle = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS; i++) {
            caravan = Math.min(caravan, produce());
            Stores.empty(store);
            chronicle = Math.min(chronicle, enqueue());
        }
        return (double) caravan / chronicle;
    }

    private long produce() {
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            store.append(workload.id(i), workload.value(i), Stores.NO_CALLBACK);
        }
        store.flush();
        return System.nanoTime() - start;
    }

    private long enqueue() throws IOException {
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

    @Override
    public void close() {
        store.close();
    }
}
