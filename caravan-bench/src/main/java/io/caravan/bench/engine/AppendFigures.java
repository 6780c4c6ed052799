package io.caravan.bench.engine;

import io.caravan.bench.engine.AppendLoop.Pace;
import io.caravan.bench.report.Figure;

/** Measured quantities that only this suite uses. */
final class AppendFigures {
    static final Figure BATCH_P99_MILLIS = new Figure("p99 of 1,000 appends, ms", "%,.2f");
    static final Figure NANOS_PER_ENTRY = new Figure("ns an entry", "%,.0f");

    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double BYTES_PER_MB = 1e6;

    private AppendFigures() {}

    static double p99Millis(Pace pace) {
        return pace.batchNanos().getValueAtPercentile(99) / NANOS_PER_MILLI;
    }

    static double mbPerSecond(long bytes, long nanos) {
        return bytes / BYTES_PER_MB / (nanos / NANOS_PER_SECOND);
    }
}
