package io.caravan.bench.engine;

import java.util.EnumMap;
import java.util.Map;

/** The figures of one run of one measurement. */
final class Measurement {
    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;

    private final Map<Figure, Double> figures = new EnumMap<>(Figure.class);

    Map<Figure, Double> figures() {
        return figures;
    }

    Measurement rate(long appends, long valueBytes, long logBytes, long nanos) {
        double seconds = nanos / NANOS_PER_SECOND;
        figures.put(Figure.APPENDS_PER_SECOND, appends / seconds);
        figures.put(Figure.VALUE_MB_PER_SECOND, valueBytes / BYTES_PER_MB / seconds);
        figures.put(Figure.LOG_MB_PER_SECOND, logBytes / BYTES_PER_MB / seconds);
        return this;
    }

    Measurement appendsPerSecond(long appends, long nanos) {
        figures.put(Figure.APPENDS_PER_SECOND, appends / (nanos / NANOS_PER_SECOND));
        return this;
    }

    Measurement batches(long forces, long logBytes) {
        figures.put(Figure.FORCES, (double) forces);
        figures.put(Figure.BYTES_PER_FORCE, (double) logBytes / Math.max(1, forces));
        return this;
    }

    Measurement longestAppend(long nanos) {
        figures.put(Figure.LONGEST_APPEND_MILLIS, nanos / NANOS_PER_MILLI);
        return this;
    }

    Measurement longestAckGap(long nanos) {
        figures.put(Figure.LONGEST_ACK_GAP_MILLIS, nanos / NANOS_PER_MILLI);
        return this;
    }

    Measurement latency(long p50Nanos, long p99Nanos) {
        figures.put(Figure.P50_MICROS, p50Nanos / NANOS_PER_MICRO);
        figures.put(Figure.P99_MICROS, p99Nanos / NANOS_PER_MICRO);
        return this;
    }
}
