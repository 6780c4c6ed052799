package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop.Outcome;
import io.caravan.bench.server.MeasuredServer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** All runs of each server, with the servers in the order of their first runs. */
final class LoadRuns {
    private static final int DIGITS = 3;
    private static final double TYPICAL = 98;

    private final Map<MeasuredServer, List<Outcome>> runs = new LinkedHashMap<>();

    void add(MeasuredServer subject, Outcome outcome) {
        runs.computeIfAbsent(subject, key -> new ArrayList<>()).add(outcome);
    }

    /** Returns the servers that have run. */
    Set<MeasuredServer> subjects() {
        return runs.keySet();
    }

    /**
     * Returns the run with the median 98th percentile. For an even number of runs, this is the better of the two middle
     * runs.
     */
    Outcome median(MeasuredServer subject) {
        List<Outcome> sorted = runs.getOrDefault(subject, List.of()).stream()
                .sorted(Comparator.comparing(run -> run.all().getValueAtPercentile(TYPICAL)))
                .toList();
        return sorted.get((sorted.size() - 1) / 2);
    }

    /** Returns the latencies of all runs together, in microseconds. */
    Histogram waits(MeasuredServer subject) {
        Histogram waits = new Histogram(DIGITS);
        runs.getOrDefault(subject, List.of()).forEach(run -> waits.add(run.all()));
        return waits;
    }
}
