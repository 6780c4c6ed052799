package io.caravan.bench.engine;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/** Appends as fast as they are taken, in batches of 1,000, up to a count and up to a time, whichever is first. */
final class AppendLoop {
    static final int BATCH = 1_000;

    private static final int DIGITS = 3;

    private final Workload workload;
    private final int count;
    private final long limitNanos;

    /**
     * A loop that may run many times.
     *
     * @param limitNanos after so long no further batch is begun
     */
    AppendLoop(Workload workload, int count, long limitNanos) {
        this.workload = workload;
        this.count = count;
        this.limitNanos = limitNanos;
    }

    /** What takes the appends. */
    interface Target {
        void append(long id, byte[] value) throws IOException;

        /** Called behind every 1,000 appends, and at the end. */
        void endBatch() throws IOException;
    }

    /**
     * How it went.
     *
     * @param appends that were made
     * @param longestNanos between two appends' returns, ends of batches included
     * @param batchNanos times of 1,000 appends and the end of their batch
     * @param startNanos when it began
     */
    record Pace(int appends, long longestNanos, Histogram batchNanos, long startNanos) {}

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
