package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import java.util.HashMap;
import java.util.Map;

/** Adds one run's measurements, Caravan's first, and how each peer did beside it in the same run. */
final class Comparison {
    private final Results results;
    private final Figure figure;
    private final boolean lessIsBetter;
    private final Map<String, Double> caravan = new HashMap<>();

    private Comparison(Results results, Figure figure, boolean lessIsBetter) {
        this.results = results;
        this.figure = figure;
        this.lessIsBetter = lessIsBetter;
    }

    /** One run's, by a figure of which more is better: how many times the peer's Caravan's is. */
    static Comparison ofRates(Results results, Figure figure) {
        return new Comparison(results, figure, false);
    }

    /** One run's, by a figure of which less is better: how many times Caravan's the peer's is. */
    static Comparison ofTimes(Results results, Figure figure) {
        return new Comparison(results, figure, true);
    }

    void add(String workload, Subject subject, Measurement measurement) {
        double value = measurement.get(figure);
        if (subject instanceof Caravan) {
            caravan.put(workload, value);
        } else if (caravan.containsKey(workload)) {
            relate(measurement, caravan.get(workload), value);
        }
        results.add(new Row(workload, subject.name(), subject.durability()), measurement);
    }

    private void relate(Measurement measurement, double ours, double theirs) {
        if (lessIsBetter) {
            measurement.with(Figure.PEER_RATIO, theirs / ours);
        } else {
            measurement.with(Figure.CARAVAN_RATIO, ours / theirs);
        }
    }
}
