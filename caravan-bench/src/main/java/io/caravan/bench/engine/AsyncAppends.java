package io.caravan.bench.engine;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.StoreStats;
import io.caravan.WriteCallback;
import io.caravan.bench.engine.AppendLoop.Pace;
import io.caravan.bench.report.Measurement;
import java.io.IOException;

/** One producer that appends at full speed. The measured time ends when all appends are committed. */
final class AsyncAppends {
    private final Workload workload;
    private final AppendLoop loop;

    /** Creates a producer that appends until a count or a time limit is reached. */
    AsyncAppends(Workload workload, int count, long limitNanos) {
        this.workload = workload;
        loop = new AppendLoop(workload, count, limitNanos);
    }

    /**
     * The batches in which a store wrote its log.
     *
     * @param appends total number of appends
     * @param forces number of fsyncs of the log
     */
    record Batches(int appends, long forces, long logBytes) {}

    /** The result, and the store's batches, which {@link ByHand} imitates. */
    record Outcome(Measurement measurement, Batches batches) {}

    Outcome run(ListStore store) throws IOException {
        StoreStats before = store.stats();
        Acknowledgements acknowledgements = new Acknowledgements(System.nanoTime());
        Pace pace = loop.run(new AppendLoop.Target() {
            @Override
            public void append(long id, byte[] value) {
                store.append(id, value, acknowledgements);
            }

            @Override
            public void endBatch() {}
        });
        store.flush();
        long nanos = System.nanoTime() - pace.startNanos();
        // A flush is counted after it is acknowledged, so the second flush ensures that the first one is counted.
        store.flush();
        StoreStats after = store.stats();
        Batches batches =
                new Batches(pace.appends(), after.fsyncs() - before.fsyncs(), after.logBytes() - before.logBytes());
        Measurement measurement = new Measurement()
                .rate(pace.appends(), workload.bytes(pace.appends()), batches.logBytes(), nanos)
                .longestAppend(pace.longestNanos())
                .with(AppendFigures.BATCH_P99_MILLIS, AppendFigures.p99Millis(pace))
                .longestAckGap(acknowledgements.gap.nanos());
        if (batches.forces() > 0) {
            measurement.batches(batches.forces(), batches.logBytes());
        }
        return new Outcome(measurement, batches);
    }

    /** Measures the longest gap between acknowledgements. Called only on the store's thread. */
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
