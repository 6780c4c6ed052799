package io.caravan.bench.policies;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.HdrHistogram.Histogram;

/**
 * Acknowledgement times of appends that were due at even intervals. Acknowledgements arrive in the order of the
 * appends, on the store's thread. Read the figures only after {@linkplain #awaitLast waiting for the last one}.
 */
final class AckTimes implements WriteCallback {
    private static final int DIGITS = 3;

    private final Histogram nanos = new Histogram(DIGITS);
    private final CompletableFuture<Long> last = new CompletableFuture<>();
    private final long startNanos;
    private final double intervalNanos;
    private long count;
    private long lastNanos;

    AckTimes(long startNanos, double intervalNanos) {
        this.startNanos = startNanos;
        this.intervalNanos = intervalNanos;
    }

    long dueNanos(long index) {
        return startNanos + (long) (index * intervalNanos);
    }

    @Override
    public void success(long sequence) {
        lastNanos = System.nanoTime();
        nanos.recordValue(Math.max(0, lastNanos - dueNanos(count++)));
    }

    @Override
    public void failure(CaravanException problem) {
        throw problem;
    }

    /** The callback of the last append. */
    WriteCallback last() {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                AckTimes.this.success(sequence);
                last.complete(sequence);
            }

            @Override
            public void failure(CaravanException problem) {
                last.completeExceptionally(problem);
            }
        };
    }

    void awaitLast() throws InterruptedException, ExecutionException {
        last.get();
    }

    /** Times from when an append was due to its acknowledgement. */
    Histogram nanos() {
        return nanos;
    }

    long count() {
        return count;
    }

    /** Time from the first append to the last acknowledgement. */
    long tookNanos() {
        return lastNanos - startNanos;
    }
}
