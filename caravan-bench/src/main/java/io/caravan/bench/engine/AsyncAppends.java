package io.caravan.bench.engine;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.StoreStats;
import io.caravan.WriteCallback;
import io.caravan.bench.report.Measurement;

/** One producer that appends as fast as the store takes it; the clock stops when all of it is durable. */
final class AsyncAppends {
    private final Workload workload;
    private final int count;

    AsyncAppends(Workload workload, int count) {
        this.workload = workload;
        this.count = count;
    }

    /**
     * How the store batched.
     *
     * @param forces of the log
     */
    record Batches(long forces, long logBytes) {}

    /** What came out, and how the store batched, for those who do the same by hand. */
    record Outcome(Measurement measurement, Batches batches) {}

    Outcome run(ListStore store) {
        StoreStats before = store.stats();
        long start = System.nanoTime();
        LongestGap appends = new LongestGap(start);
        Acknowledgements acknowledgements = new Acknowledgements(start);
        for (int i = 0; i < count; i++) {
            store.append(workload.id(i), workload.value(i), acknowledgements);
            appends.event();
        }
        appends.eventAt(System.nanoTime());
        store.flush();
        long nanos = System.nanoTime() - start;
        // A flush is counted after it was acknowledged, so only a second one makes sure that the last is counted.
        store.flush();
        StoreStats after = store.stats();
        Batches batches = new Batches(after.forces() - before.forces(), after.logBytes() - before.logBytes());
        return new Outcome(
                new Measurement()
                        .rate(count, workload.bytes(count), batches.logBytes(), nanos)
                        .longestAppend(appends.nanos())
                        .longestAckGap(acknowledgements.gap.nanos())
                        .batches(batches.forces(), batches.logBytes()),
                batches);
    }

    /** Called on the store's thread only. */
    private static final class Acknowledgements implements WriteCallback {
        private final LongestGap gap;

        Acknowledgements(long startNanos) {
            gap = new LongestGap(startNanos);
        }

        @Override
        public void success(long sequence) {
            gap.event();
        }

        @Override
        public void failure(CaravanException problem) {
            throw problem;
        }
    }
}
