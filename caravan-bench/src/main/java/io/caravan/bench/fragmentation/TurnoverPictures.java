package io.caravan.bench.fragmentation;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.XYChart;

/** Size and cost over the turnovers, and the maps of the heaps. */
final class TurnoverPictures {
    private static final String TURNOVERS = "turnovers: live bytes written anew";
    private static final List<String> SYSTEMS = List.of(Turnovers.CARAVAN, Turnovers.FIRST_FIT);

    private final Results results;
    private final Map<String, MapPair> maps;

    TurnoverPictures(Results results, Map<String, MapPair> maps) {
        this.results = results;
        this.maps = maps;
    }

    List<Picture> all() {
        List<Picture> pictures = new ArrayList<>(List.of(size(), cost()));
        maps.forEach((system, pair) -> pictures.add(new MapPicture(system, pair).picture()));
        return pictures;
    }

    private Picture size() {
        String title = "Heap size over live bytes";
        XYChart chart = Charts.lines(title, TURNOVERS, "size / live");
        SYSTEMS.forEach(system -> add(chart, system, system, Turnovers.SIZE_RATIO));
        add(chart, Charts.MACHINE + ": room for the most ever live", Turnovers.CARAVAN, Turnovers.LEAST_RATIO);
        return new Picture(
                "size",
                title,
                "The size of the heap over its live bytes, after its contents have been rewritten so many times. The"
                        + " dashed line is the most that was ever live at once, which any heap needs room for;"
                        + " everything above it is holes.",
                chart);
    }

    private Picture cost() {
        String title = "Cost of an allocation";
        XYChart chart = Charts.lines(title, TURNOVERS, "ns");
        Charts.logY(chart);
        SYSTEMS.forEach(system -> {
            add(chart, system, system, Turnovers.ASK_MEAN_NANOS);
            add(chart, system + ", p99", system, Turnovers.ASK_P99_NANOS);
        });
        double clock = results.median(Turnovers.CLOCK, Turnovers.ASK_MEAN_NANOS);
        Charts.add(
                chart,
                Charts.MACHINE + ": the clock",
                xs(),
                Turnovers.LOOKS.stream().map(look -> clock).toList());
        return new Picture(
                "cost",
                title,
                "Mean and p99 of single allocations; all include the time of reading the clock, the dashed line. The"
                        + " cost of a list grows with the number of holes; that of an index does not.",
                chart);
    }

    private void add(XYChart chart, String name, String system, Figure figure) {
        List<Double> ys = Turnovers.LOOKS.stream()
                .map(look -> results.median(Turnovers.row(look, system), figure))
                .toList();
        Charts.add(chart, name, xs(), ys);
    }

    private static List<Double> xs() {
        return Turnovers.LOOKS.stream().map(Integer::doubleValue).toList();
    }
}
