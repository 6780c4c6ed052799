package io.caravan.bench.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** The values measured in one run of a workload. */
public final class Measurement {
    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;

    private final Map<Figure, Double> figures = new LinkedHashMap<>();

    public Map<Figure, Double> figures() {
        return figures;
    }

    /** Adds a value, in the unit of {@code figure}. */
    public Measurement with(Figure figure, double value) {
        figures.put(figure, value);
        return this;
    }

    /** Returns the value of a measured quantity. */
    public double get(Figure figure) {
        Double value = figures.get(figure);
        if (value == null) {
            throw new IllegalArgumentException(figure.title() + " was not measured");
        }
        return value;
    }

    public Measurement rate(long appends, long valueBytes, long logBytes, long nanos) {
        return rate(appends, valueBytes, nanos)
                .with(Figure.LOG_MB_PER_SECOND, logBytes / BYTES_PER_MB / (nanos / NANOS_PER_SECOND));
    }

    public Measurement rate(long appends, long valueBytes, long nanos) {
        return appendsPerSecond(appends, nanos)
                .with(Figure.VALUE_MB_PER_SECOND, valueBytes / BYTES_PER_MB / (nanos / NANOS_PER_SECOND));
    }

    public Measurement appendsPerSecond(long appends, long nanos) {
        figures.put(Figure.APPENDS_PER_SECOND, appends / (nanos / NANOS_PER_SECOND));
        return this;
    }

    public Measurement batches(long fsyncs, long logBytes) {
        figures.put(Figure.FSYNCS, (double) fsyncs);
        figures.put(Figure.BYTES_PER_FSYNC, (double) logBytes / Math.max(1, fsyncs));
        return this;
    }

    public Measurement longestAppend(long nanos) {
        figures.put(Figure.LONGEST_APPEND_MILLIS, nanos / NANOS_PER_MILLI);
        return this;
    }

    public Measurement longestAckGap(long nanos) {
        figures.put(Figure.LONGEST_ACK_GAP_MILLIS, nanos / NANOS_PER_MILLI);
        return this;
    }

    public Measurement latency(Histogram nanos) {
        figures.put(Figure.P50_MICROS, nanos.getValueAtPercentile(50) / NANOS_PER_MICRO);
        figures.put(Figure.P99_MICROS, nanos.getValueAtPercentile(99) / NANOS_PER_MICRO);
        return this;
    }

    static Measurement ofNanos(Histogram nanos) {
        return new Measurement()
                .with(Figure.P50_NANOS, nanos.getValueAtPercentile(50))
                .with(Figure.P99_NANOS, nanos.getValueAtPercentile(99));
    }

    /**
     * Adds the percentiles and the maximum of a latency distribution.
     *
     * @param unit the unit of the recorded values
     */
    public Measurement latencies(Histogram times, TimeUnit unit) {
        double perMilli = NANOS_PER_MILLI / unit.toNanos(1);
        figures.put(Figure.P50_MILLIS, times.getValueAtPercentile(50) / perMilli);
        figures.put(Figure.P98_MILLIS, times.getValueAtPercentile(98) / perMilli);
        figures.put(Figure.P99_MILLIS, times.getValueAtPercentile(99) / perMilli);
        figures.put(Figure.P999_MILLIS, times.getValueAtPercentile(99.9) / perMilli);
        figures.put(Figure.MAX_MILLIS, times.getMaxValue() / perMilli);
        return this;
    }
}
