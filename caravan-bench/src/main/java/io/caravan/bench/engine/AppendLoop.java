package io.caravan.bench.engine;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import org.HdrHistogram.Histogram;

/** Appends at full speed in batches of 1,000, until a count or a time limit is reached. */
final class AppendLoop {
    private static final Figure BATCH_P99_MILLIS = new Figure("p99 of 1,000 appends, ms", "%,.2f");
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int BATCH = 1_000;

    private static final int DIGITS = 3;

    private final Workload workload;
    private final int count;
    private final long limitNanos;

    /**
     * Creates a loop, which can be run repeatedly.
     *
     * @param limitNanos time after which no further batch starts
     */
    AppendLoop(Workload workload, int count, long limitNanos) {
        this.workload = workload;
        this.count = count;
        this.limitNanos = limitNanos;
    }

    interface Target {
        void append(long id, byte[] value) throws IOException;

        /** Completes a batch, for example with a commit. Called after every 1,000 appends, and at the end. */
        void endBatch() throws IOException;
    }

    /**
     * The result of a run.
     *
     * @param appends number of appends made
     * @param longestNanos longest time between the returns of two consecutive appends, including the ends of batches
     * @param batchNanos time of each batch of 1,000 appends, including {@code endBatch}
     * @param startNanos start time
     */
    record Pace(int appends, long longestNanos, Histogram batchNanos, long startNanos) {
        /** Adds the longest stall and the 99th percentile of the batch times to a measurement. */
        Measurement addTo(Measurement measurement) {
            return measurement
                    .longestAppend(longestNanos)
                    .with(BATCH_P99_MILLIS, batchNanos.getValueAtPercentile(99) / NANOS_PER_MILLI);
        }
    }

    Pace run(Target target) throws IOException {
        Histogram batches = new Histogram(DIGITS);
        long start = System.nanoTime();
        LongestGap gap = new LongestGap(start);
        long last = start;
        int done = 0;
        while (done < count && last - start < limitNanos) {
            int end = Math.min(count, done + BATCH);
            for (int i = done; i < end; i++) {
                target.append(workload.id(i), workload.value(i));
                gap.event();
            }
            target.endBatch();
            done = end;
            long now = System.nanoTime();
            gap.eventAt(now);
            batches.recordValue(now - last);
            last = now;
        }
        return new Pace(done, gap.nanos(), batches, start);
    }
}
