package io.caravan.torture.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The results of a replay, which the {@link Player} records during the replay. */
final class ReplayReport {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    /** The number of significant digits with which latencies are recorded. */
    private static final int DIGITS = 3;

    final Histogram ackNanos = new ConcurrentHistogram(DIGITS);
    /** The times from each kill until the document was open again, in nanoseconds. */
    final List<Long> reopenNanos = new ArrayList<>();

    long nanos;
    long transactionBytes;
    int snapshots;
    long snapshotBytes;
    int retained;

    private final String target;
    private final Trace trace;

    ReplayReport(String target, Trace trace) {
        this.target = target;
        this.trace = trace;
    }

    static double micros(long nanos) {
        return nanos / NANOS_PER_MICRO;
    }

    @Override
    public String toString() {
        double seconds = nanos / NANOS_PER_SECOND;
        int transactions = trace.transactions().size();
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
                trace.endContent().codePointCount(0, trace.endContent().length()));
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
}
