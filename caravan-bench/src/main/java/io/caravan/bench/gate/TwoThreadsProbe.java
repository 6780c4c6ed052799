package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import java.nio.file.Path;

/**
 * Measures the time in which two threads read lists of ten small values from one store, divided by the time in which
 * they read as many from a store each. Two threads may share a core with each other or with other programs, and that
 * affects both times equally, so only the work of the store remains.
 */
final class TwoThreadsProbe implements Probe {
    private static final int LISTS = 10_000;
    private static final int READS = 20_000;
    private static final int VALUES = 10;
    private static final int VALUE_BYTES = 24;
    private static final int ATTEMPTS = 5;

    private final Workload workload = Workload.ofSize(1, VALUE_BYTES);
    private final ListStore first;
    private final ListStore second;

    TwoThreadsProbe(Path directory) {
        first = filled(directory.resolve("first"));
        second = filled(directory.resolve("second"));
    }

    private ListStore filled(Path directory) {
        ListStore store = new Stores(true).open(directory, Durability.SYNC);
        for (int i = 0; i < LISTS * VALUES; i++) {
            store.append(i % LISTS, workload.value(i), Stores.NO_CALLBACK);
        }
        store.flush();
        return store;
    }

    @Override
    public double round() throws InterruptedException {
        long shared = Long.MAX_VALUE;
        long apart = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS; i++) {
            shared = Math.min(shared, nanos(first));
            apart = Math.min(apart, nanos(second));
        }
        return (double) shared / apart;
    }

    /** Returns the time in which one thread reads from the first store, and another from the given one. */
    private long nanos(ListStore other) throws InterruptedException {
        Thread thread = new Thread(() -> read(other, READS), "second-reader");
        long start = System.nanoTime();
        thread.start();
        read(first, 0);
        thread.join();
        return System.nanoTime() - start;
    }

    private void read(ListStore store, int from) {
        for (int i = from; i < from + READS; i++) {
            store.get(workload.id(i), (sequence, value) -> true);
        }
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
