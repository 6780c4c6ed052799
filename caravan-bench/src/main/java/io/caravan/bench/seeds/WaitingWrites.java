package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Threads that each write small documents to separate lists and wait for each write, for a given time.
 *
 * @param valueBytes 0 for a JSON document
 */
record WaitingWrites(String name, int threads, int valueBytes, int millis) implements Work {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MICRO = 1e3;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException {
        try (FreshStore fresh = new FreshStore(turn, level)) {
            ExecutorService pool = Executors.newFixedThreadPool(threads);
            try {
                return measure(fresh.store(), pool);
            } finally {
                pool.shutdownNow();
            }
        }
    }

    private Measurement measure(ListStore store, ExecutorService pool) throws InterruptedException, ExecutionException {
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        List<Future<Integer>> writers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int first = i;
            writers.add(pool.submit(() -> write(store, first, end)));
        }
        long written = 0;
        for (Future<Integer> writer : writers) {
            written += writer.get();
        }
        long nanos = System.nanoTime() - start;
        return new Measurement()
                .with(Figure.APPENDS_PER_SECOND, written / (nanos / NANOS_PER_SECOND))
                .with(MICROS_EACH, nanos / NANOS_PER_MICRO / written);
    }

    private int write(ListStore store, int first, long endNanos) throws InterruptedException, ExecutionException {
        int written = 0;
        do {
            int id = first + written * threads;
            store.append(id, valueBytes == 0 ? FreshStore.document(id) : new byte[valueBytes])
                    .get();
            written++;
        } while (System.nanoTime() - endNanos < 0);
        return written;
    }
}
