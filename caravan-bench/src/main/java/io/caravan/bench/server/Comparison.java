package io.caravan.bench.server;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Adds the measurements of one run to the results, with the ratio of Caravan's requests per second to each peer's. */
final class Comparison {
    private final Results results;
    /** Caravan's measurements, by workload. */
    private final Map<String, Measurement> caravan = new HashMap<>();
    /** The measurements of peers that ran before Caravan, by workload. */
    private final Map<String, List<Measurement>> waiting = new HashMap<>();

    Comparison(Results results) {
        this.results = results;
    }

    void add(String workload, MeasuredServer subject, Measurement measurement) {
        Measurement ours = caravan.get(workload);
        if (subject instanceof Caravan) {
            caravan.put(workload, measurement);
            waiting.getOrDefault(workload, List.of()).forEach(peer -> relate(peer, measurement));
        } else if (ours != null) {
            relate(measurement, ours);
        } else {
            waiting.computeIfAbsent(workload, key -> new ArrayList<>()).add(measurement);
        }
        results.add(workload, subject.name(), subject.durability(), measurement);
    }

    private static void relate(Measurement peer, Measurement ours) {
        peer.with(Figure.CARAVAN_RATIO, ours.get(Figure.REQUESTS_PER_SECOND) / peer.get(Figure.REQUESTS_PER_SECOND));
    }
}
