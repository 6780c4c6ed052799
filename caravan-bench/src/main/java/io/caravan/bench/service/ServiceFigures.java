package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop.Outcome;
import io.caravan.bench.load.Second;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.util.List;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** The numbers of a load, or of one second of a load. */
final class ServiceFigures {
    static final Figure SENT = new Figure("sent", "%,.0f");
    static final Figure ACKS = new Figure("acks", "%,.0f");
    static final Figure FAILURES = new Figure("failures", "%,.0f");
    static final Figure START_MILLIS = new Figure("from start to ready, ms", "%,.0f");
    static final Figure P5_MILLIS = new Figure("p5, ms", "%,.2f");

    private static final double MICROS_PER_MILLI = 1e3;

    private ServiceFigures() {}

    /** Returns the numbers from the given second on, counted from 0, including replies after the last second. */
    static Measurement from(int second, Outcome outcome) {
        List<Second> all = outcome.timeline().seconds();
        List<Second> seconds = Stream.concat(
                        all.subList(second, all.size()).stream(),
                        Stream.of(outcome.timeline().afterEnd()))
                .toList();
        return of(seconds, outcome.timeline().waitsFrom(second))
                .with(Figure.CLIENT_LATE_P999_MILLIS, outcome.late().getValueAtPercentile(99.9) / MICROS_PER_MILLI)
                .with(Figure.CLIENT_LATE_MAX_MILLIS, outcome.late().getMaxValue() / MICROS_PER_MILLI);
    }

    /** Returns the numbers of one second. */
    static Measurement of(Second second) {
        return of(List.of(second), second.waits());
    }

    private static Measurement of(List<Second> seconds, Histogram micros) {
        Measurement measurement = new Measurement()
                .with(SENT, seconds.stream().mapToLong(Second::sentCount).sum())
                .with(ACKS, seconds.stream().mapToLong(Second::acks).sum())
                .with(FAILURES, seconds.stream().mapToLong(Second::failures).sum());
        if (micros.getTotalCount() > 0) {
            measurement
                    .with(P5_MILLIS, micros.getValueAtPercentile(5) / MICROS_PER_MILLI)
                    .with(Figure.P50_MILLIS, micros.getValueAtPercentile(50) / MICROS_PER_MILLI)
                    .with(Figure.P98_MILLIS, micros.getValueAtPercentile(98) / MICROS_PER_MILLI)
                    .with(Figure.P999_MILLIS, micros.getValueAtPercentile(99.9) / MICROS_PER_MILLI)
                    .with(Figure.MAX_MILLIS, micros.getMaxValue() / MICROS_PER_MILLI);
        }
        return measurement;
    }
}
