package io.caravan.bench.engine;

import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Runs writers for a given time. Each writer waits for an acknowledgment before its next append. */
public final class WaitingAppends {
    private static final int DIGITS = 3;

    private final int writers;
    private final long durationNanos;

    /** Creates writers that run for at least the given time, each on its own thread. */
    public WaitingAppends(int writers, long durationMillis) {
        this.writers = writers;
        durationNanos = TimeUnit.MILLISECONDS.toNanos(durationMillis);
    }

    /** Performs one append, identified by a unique number, and returns once it is acknowledged. */
    public interface Append {
        void andWait(int number) throws IOException, InterruptedException, ExecutionException;
    }

    public Measurement run(Append append) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            long start = System.nanoTime();
            List<Future<Histogram>> results = new ArrayList<>();
            for (int writer = 0; writer < writers; writer++) {
                int first = writer;
                results.add(threads.submit(() -> write(append, first, start + durationNanos)));
            }
            Histogram all = new Histogram(DIGITS);
            for (Future<Histogram> result : results) {
                all.add(result.get());
            }
            return new Measurement()
                    .appendsPerSecond(all.getTotalCount(), System.nanoTime() - start)
                    .latency(all);
        } catch (ExecutionException failed) {
            throw new IOException("a writer failed to append", failed.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private Histogram write(Append append, int first, long endNanos)
            throws IOException, InterruptedException, ExecutionException {
        Histogram nanos = new Histogram(DIGITS);
        long last = System.nanoTime();
        int i = first;
        do {
            append.andWait(i);
            long now = System.nanoTime();
            nanos.recordValue(now - last);
            last = now;
            i += writers;
        } while (last - endNanos < 0);
        return nanos;
    }
}
