package io.caravan.bench.timers;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.List;
import org.knowm.xchart.XYChart;

/** How late waits end, by requested delay: the median and p99. */
final class OvershootPictures {
    /** The minimum on the logarithmic axis, below the resolution of the clock. */
    private static final double LEAST_MICROS = 0.01;

    private final Results results;
    private final boolean busy;

    OvershootPictures(Results results, boolean busy) {
        this.results = results;
        this.busy = busy;
    }

    List<Picture> all() {
        return List.of(
                picture(Overshoots.OVERSHOOT_P50, "p50", "Half of all waits were later than this."),
                picture(Overshoots.OVERSHOOT_P99, "p99", "One wait in a hundred was later than this."));
    }

    private Picture picture(Figure figure, String percentile, String meaning) {
        String title = "How late a wait ends on " + (busy ? "a busy" : "an idle") + " machine, " + percentile;
        XYChart chart = Charts.lines(title, "asked for, us", "longer than asked for, us");
        Charts.logX(chart);
        Charts.logY(chart);
        List<Double> xs =
                Overshoots.DELAYS_MICROS.stream().map(Integer::doubleValue).toList();
        for (String system : Overshoots.SYSTEMS) {
            List<Double> ys = Overshoots.DELAYS_MICROS.stream()
                    .map(micros -> Math.max(LEAST_MICROS, results.median(Overshoots.row(micros, system), figure)))
                    .toList();
            Charts.add(chart, system, xs, ys);
        }
        return new Picture(
                (busy ? "busy-" : "idle-") + percentile,
                title,
                meaning
                        + " Caravan parks, and spins for the last 100 us; the dashed line is a thread that only"
                        + " reads the clock"
                        + (busy ? ", which the scheduler preempts for the others because it never rests." : "."),
                chart);
    }
}
