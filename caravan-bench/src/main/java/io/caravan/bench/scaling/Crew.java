package io.caravan.bench.scaling;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** Threads that start together and repeat the same operation until the time is up. */
final class Crew implements AutoCloseable {
    private static final double NANOS_PER_SECOND = 1e9;

    private final int threads;
    private final long durationNanos;
    private final ExecutorService executor;

    Crew(int threads, long durationNanos) {
        this.threads = threads;
        this.durationNanos = durationNanos;
        executor = Executors.newFixedThreadPool(threads);
    }

    /**
     * Runs a crew and returns the operations a second of all its threads.
     *
     * @param operations number of operations between two readings of the clock
     * @param operation creates the operation that a thread repeats, by the thread's number
     * @param settle run once at the end, as part of the measured time
     */
    double run(int operations, IntFunction<Callable<?>> operation, Runnable settle) throws InterruptedException {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<Long>> counts = new ArrayList<>();
        long startNanos = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            Callable<?> repeated = operation.apply(i);
            counts.add(executor.submit(() -> {
                start.await();
                return repeat(repeated, operations);
            }));
        }
        long sum = 0;
        for (Future<Long> count : counts) {
            sum += get(count);
        }
        settle.run();
        return sum * NANOS_PER_SECOND / (System.nanoTime() - startNanos);
    }

    private long repeat(Callable<?> operation, int operations) throws Exception {
        long end = System.nanoTime() + durationNanos;
        long count = 0;
        while (System.nanoTime() - end < 0) {
            for (int i = 0; i < operations; i++) {
                operation.call();
            }
            count += operations;
        }
        return count;
    }

    private static long get(Future<Long> count) throws InterruptedException {
        try {
            return count.get();
        } catch (ExecutionException failed) {
            throw new IllegalStateException("an operation failed", failed.getCause());
        }
    }

    /** Stops the threads. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
