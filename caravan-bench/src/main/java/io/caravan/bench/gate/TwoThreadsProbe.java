package io.caravan.bench.gate;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.Workload;
import io.caravan.format.Checksums;
import java.nio.file.Path;
import java.util.function.IntConsumer;

/**
 * Measures the time in which two threads do the same number of reads of ten small values each, divided by the time that
 * one thread takes for its reads alone. On a machine whose cores are busy, two threads need longer for any work, so the
 * result is divided by the same quotient for the computation of checksums, which shares nothing.
 */
final class TwoThreadsProbe implements Probe {
    private static final int LISTS = 10_000;
    private static final int READS = 20_000;
    private static final int VALUES = 10;
    private static final int VALUE_BYTES = 24;
    private static final int ATTEMPTS = 5;

    private final ListStore store;
    private final Workload workload = Workload.ofSize(1, VALUE_BYTES);
    private volatile int result;

    TwoThreadsProbe(Path directory) {
        store = new Stores(true).open(directory, Durability.SYNC);
        for (int i = 0; i < LISTS * VALUES; i++) {
            store.append(i % LISTS, workload.value(i), Stores.NO_CALLBACK);
        }
        store.flush();
    }

    @Override
    public double round() throws InterruptedException {
        return slowdown(this::read) / slowdown(this::compute);
    }

    private void read(int number) {
        store.get(workload.id(number), (sequence, value) -> true);
    }

    private void compute(int number) {
        int sum = 0;
        for (int i = 0; i < VALUES; i++) {
            sum += Checksums.crc32c(workload.value(number + i));
        }
        if (sum == 0) {
            result = sum;
        }
    }

    private double slowdown(IntConsumer work) throws InterruptedException {
        long one = Long.MAX_VALUE;
        long two = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS; i++) {
            one = Math.min(one, nanos(work, 0));
            Thread other = new Thread(() -> nanos(work, READS), "second-reader");
            long start = System.nanoTime();
            other.start();
            nanos(work, 0);
            other.join();
            two = Math.min(two, System.nanoTime() - start);
        }
        return (double) two / one;
    }

    private long nanos(IntConsumer work, int from) {
        long start = System.nanoTime();
        for (int i = from; i < from + READS; i++) {
            work.accept(i);
        }
        return System.nanoTime() - start;
    }

    @Override
    public void close() {
        store.close();
    }
}
