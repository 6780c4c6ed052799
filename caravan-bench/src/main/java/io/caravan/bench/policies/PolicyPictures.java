package io.caravan.bench.policies;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;

/** The cost of each policy in time and in forces, over the rate. */
final class PolicyPictures {
    private static final String OFFERED = "appends a second, offered";

    private final Results results;

    PolicyPictures(Results results) {
        this.results = results;
    }

    List<Picture> all() {
        return List.of(
                picture(
                        "latency",
                        "Time to a durable append, by flush policy",
                        "p50, us",
                        Figure.P50_MICROS,
                        "Half of the appends were durable within this time from when they were due; the dashed line is one"
                                + " force of 4 KiB. A fixed delay is right at one rate only; where a line rises"
                                + " steeply, appends wait for others. The table shows whether the store kept up."),
                picture(
                        "tail",
                        "Time to a durable append at p99, by flush policy",
                        "p99, us",
                        Figure.P99_MICROS,
                        "99 of 100 appends were durable within this time from when they were due; the dashed"
                                + " line is the p99 of one force of 4 KiB."),
                picture(
                        "forces",
                        "Forces of the log, by flush policy",
                        "forces a second",
                        PolicySweep.FORCES_PER_SECOND,
                        "How often the disk was forced for the same appends: the fewer, the more each force covers."
                                + " The dashed line is the disk's maximum rate of forces."));
    }

    private Picture picture(String name, String title, String yTitle, Figure figure, String caption) {
        XYChart chart = Charts.lines(title, OFFERED, yTitle);
        Charts.logX(chart);
        Charts.logY(chart);
        List<String> systems =
                new ArrayList<>(NamedPolicy.ALL.stream().map(NamedPolicy::name).toList());
        systems.add(Charts.MACHINE);
        List<Double> xs = PolicySweep.RATES.stream().map(Integer::doubleValue).toList();
        for (String system : systems) {
            List<Double> ys = PolicySweep.RATES.stream()
                    .map(rate -> results.median(PolicySweep.row(PolicySweep.workload(rate), system), figure))
                    .toList();
            Charts.add(chart, system, xs, ys);
        }
        return new Picture(name, title, caption, chart);
    }
}
