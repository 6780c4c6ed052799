package io.caravan.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The results of all runs, in the order in which the rows were first measured. */
public final class Results {

    /**
     * Identifies a row of a table.
     *
     * @param workload the work done
     * @param system the system that did the work
     * @param durability the guarantee that a write had when it was counted
     */
    public record Row(String workload, String system, String durability) {}

    /** The distribution of one measured quantity over all runs. */
    public record Spread(double min, double median, double max, List<Double> runs) {
        static Spread of(List<Double> runs) {
            double[] sorted =
                    runs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            int middle = sorted.length / 2;
            double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
            return new Spread(sorted[0], median, sorted[sorted.length - 1], List.copyOf(runs));
        }
    }

    private final Map<Row, List<Measurement>> rows = new LinkedHashMap<>();

    public void add(Row row, Measurement measurement) {
        rows.computeIfAbsent(row, key -> new ArrayList<>()).add(measurement);
    }

    public void add(String workload, String system, String durability, Measurement measurement) {
        add(new Row(workload, system, durability), measurement);
    }

    /** Adds a row without numbers, which shows the reason for their absence in place of the durability. */
    public void absent(String workload, String system, String why) {
        rows.putIfAbsent(new Row(workload, system, "not measured: " + why), new ArrayList<>());
    }

    public Iterable<Row> rows() {
        return rows.keySet();
    }

    /** Returns the distribution of each measured quantity in a row. */
    public Map<Figure, Spread> spreads(Row row) {
        Map<Figure, List<Double>> runs = new LinkedHashMap<>();
        for (Measurement run : rows.getOrDefault(row, List.of())) {
            run.figures()
                    .forEach((figure, value) -> runs.computeIfAbsent(figure, key -> new ArrayList<>())
                            .add(value));
        }
        Map<Figure, Spread> spreads = new LinkedHashMap<>();
        runs.forEach((figure, values) -> spreads.put(figure, Spread.of(values)));
        return spreads;
    }

    /** Returns the median of a measured quantity in a row, or NaN if it was not measured. */
    public double median(Row row, Figure figure) {
        Spread spread = spreads(row).get(figure);
        return spread == null ? Double.NaN : spread.median();
    }

    /** Returns the measured quantities that occur in any row, in the order of their first appearance. */
    public List<Figure> figures() {
        return rows.values().stream()
                .flatMap(List::stream)
                .flatMap(run -> run.figures().keySet().stream())
                .distinct()
                .toList();
    }
}
