package io.caravan.bench.engine;

import io.caravan.ListStore;
import io.caravan.bench.report.Measurement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Writers that each wait for an append's acknowledgement before the next, for a while. */
public final class WaitingAppends {
    private static final int DIGITS = 3;

    private final Workload workload;
    private final int writers;
    private final long durationNanos;

    public WaitingAppends(Workload workload, int writers, long durationMillis) {
        this.workload = workload;
        this.writers = writers;
        durationNanos = TimeUnit.MILLISECONDS.toNanos(durationMillis);
    }

    /** Appends until the time is over; times are from each append to its acknowledgement. */
    public Measurement run(ListStore store) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            long start = System.nanoTime();
            List<Future<Histogram>> results = new ArrayList<>();
            for (int writer = 0; writer < writers; writer++) {
                int first = writer;
                results.add(threads.submit(() -> write(store, first, start + durationNanos)));
            }
            Histogram all = new Histogram(DIGITS);
            for (Future<Histogram> result : results) {
                all.add(result.get());
            }
            return new Measurement()
                    .appendsPerSecond(all.getTotalCount(), System.nanoTime() - start)
                    .latency(all.getValueAtPercentile(50), all.getValueAtPercentile(99));
        } finally {
            threads.shutdownNow();
        }
    }

    private Histogram write(ListStore store, int first, long endNanos) throws InterruptedException, ExecutionException {
        Histogram nanos = new Histogram(DIGITS);
        long last = System.nanoTime();
        for (int i = first; last - endNanos < 0; i += writers) {
            store.append(workload.id(i), workload.value(i)).get();
            long now = System.nanoTime();
            nanos.recordValue(now - last);
            last = now;
        }
        return nanos;
    }
}
