package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Adds one run's measurements, in any order, with each peer's ratio to Caravan in the same run. */
final class Comparison {
    private final Results results;
    private final Figure figure;
    private final boolean lessIsBetter;
    /** By workload. */
    private final Map<String, Measurement> caravan = new HashMap<>();
    /** The peers measured before Caravan, by workload. */
    private final Map<String, List<Measurement>> waiting = new HashMap<>();

    private Comparison(Results results, Figure figure, boolean lessIsBetter) {
        this.results = results;
        this.figure = figure;
        this.lessIsBetter = lessIsBetter;
    }

    /** For a figure where higher is better: the ratio of Caravan to the peer in each run. */
    static Comparison ofRates(Results results, Figure figure) {
        return new Comparison(results, figure, false);
    }

    /** For a figure where lower is better: the ratio of the peer to Caravan in each run. */
    static Comparison ofTimes(Results results, Figure figure) {
        return new Comparison(results, figure, true);
    }

    void add(String workload, Subject subject, Measurement measurement) {
        Measurement ours = caravan.get(workload);
        if (subject instanceof Caravan) {
            caravan.put(workload, measurement);
            waiting.getOrDefault(workload, List.of()).forEach(peer -> relate(peer, measurement));
        } else if (ours != null) {
            relate(measurement, ours);
        } else {
            waiting.computeIfAbsent(workload, key -> new ArrayList<>()).add(measurement);
        }
        results.add(new Row(workload, subject.name(), subject.durability()), measurement);
    }

    private void relate(Measurement peer, Measurement ours) {
        if (lessIsBetter) {
            peer.with(Figure.PEER_RATIO, peer.get(figure) / ours.get(figure));
        } else {
            peer.with(Figure.CARAVAN_RATIO, ours.get(figure) / peer.get(figure));
        }
    }
}
