package io.caravan.bench.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** The result of a replay. */
record ReplayReport(
        String target,
        int transactions,
        int codePoints,
        long nanos,
        Histogram ackNanos,
        long transactionBytes,
        int snapshots,
        long snapshotBytes,
        int retained,
        List<Long> reopenNanos) {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    static double micros(long nanos) {
        return nanos / NANOS_PER_MICRO;
    }

    @Override
    public String toString() {
        double seconds = nanos / NANOS_PER_SECOND;
        return String.format(
                Locale.ROOT,
                "  %s%n"
                        + "  %,d transactions in %.2f s, %,.0f/s; %,d bytes, and %,d snapshots of %,d bytes%n"
                        + "  acknowledged after: p50 %,.0f us, p99 %,.0f us, p99.9 %,.0f us, max %,.0f us%n"
                        + "%s"
                        + "  the text rebuilt from the %,d retained entries is the recorded one, %,d code points",
                target,
                transactions,
                seconds,
                transactions / seconds,
                transactionBytes,
                snapshots,
                snapshotBytes,
                micros(ackNanos.getValueAtPercentile(50)),
                micros(ackNanos.getValueAtPercentile(99)),
                micros(ackNanos.getValueAtPercentile(99.9)),
                micros(ackNanos.getMaxValue()),
                kills(),
                retained,
                codePoints);
    }

    private String kills() {
        if (reopenNanos.isEmpty()) {
            return "";
        }
        double longest = reopenNanos.stream().mapToLong(Long::longValue).max().orElse(0) / NANOS_PER_MILLI;
        return String.format(
                Locale.ROOT,
                "  killed %d times; nothing acknowledged was missing; longest start and reopen %,.0f ms%n",
                reopenNanos.size(),
                longest);
    }

    /** Collects the measurements during a replay. */
    static final class Builder {
        private final List<Long> reopenNanos = new ArrayList<>();
        private long nanos;
        private long transactionBytes;
        private int snapshots;
        private long snapshotBytes;
        private int retained;

        void appended(int bytes) {
            transactionBytes += bytes;
        }

        void snapshot(int bytes) {
            snapshots++;
            snapshotBytes += bytes;
        }

        void killed(long untilReopenNanos) {
            reopenNanos.add(untilReopenNanos);
        }

        void played(long durationNanos) {
            nanos = durationNanos;
        }

        void retained(int entries) {
            retained = entries;
        }

        ReplayReport build(String target, Trace trace, Histogram ackNanos) {
            return new ReplayReport(
                    target,
                    trace.transactions().size(),
                    trace.endContent().codePointCount(0, trace.endContent().length()),
                    nanos,
                    ackNanos,
                    transactionBytes,
                    snapshots,
                    snapshotBytes,
                    retained,
                    List.copyOf(reopenNanos));
        }
    }
}
