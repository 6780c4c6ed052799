package io.caravan.bench.seeds;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Picture;
import java.awt.BasicStroke;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Caravan's ratio to each headline, as bars that start at the headline and extend to the better or worse side. */
final class RatioPicture {
    private static final String TITLE = "Caravan here, beside what the posts said";
    private static final String FORCED = "Caravan";
    private static final String NEAREST = "Caravan, at the post's durability";
    private static final double APART = 0.17;
    private static final int TICK_PIXELS = 18;
    private static final double TICK_ERROR = 1e-6;
    private static final int BLANKS_A_PLACE = 4;
    private static final BasicStroke BAR = new BasicStroke(7, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER);

    private final XYChart chart = Charts.lines(TITLE, "times as good as the headline (1 is the same)", "");
    private final List<String> labels = new ArrayList<>();

    /** Adds a ratio below the others; leaves out NaN. */
    void add(String label, double nearest, double forced) {
        double place = -labels.size();
        labels.add(label);
        bar(NEAREST, nearest, place + APART);
        bar(FORCED, forced, place - APART);
    }

    private void bar(String system, double ratio, double place) {
        if (Double.isNaN(ratio)) {
            return;
        }
        List<Double> xs = List.of(1.0, ratio);
        List<Double> ys = List.of(place, place);
        XYSeries first = chart.getSeries(system);
        if (first == null) {
            Charts.add(chart, system, xs, ys);
            chart.getSeries(system).setMarker(SeriesMarkers.NONE).setLineStyle(BAR);
        } else {
            XYSeries more = chart.addSeries(system + place, xs, ys);
            more.setMarker(SeriesMarkers.NONE).setLineColor(first.getLineColor());
            more.setLineStyle(BAR).setShowInLegend(false);
        }
    }

    /** The picture of the added ratios. */
    Picture picture() {
        Charts.logX(chart);
        chart.getStyler()
                .setYAxisTickLabelsFormattingFunction(this::label)
                .setYAxisTickMarkSpacingHint(TICK_PIXELS)
                .setPlotGridHorizontalLinesVisible(false)
                .setYAxisMin(0.5 - labels.size())
                .setYAxisMax(0.5);
        if (chart.getSeries(FORCED) != null) {
            chart.getSeries(FORCED).setLabel("Caravan, forced (SYNC)");
        }
        return new Picture(
                "ratios",
                TITLE,
                "A bar to the right of 1 is that many times better than the post's figure; one to the left is worse."
                        + " The headlines come from other machines and languages. Where writes were synced there"
                        + " too, and for reads, both bars are the same.",
                chart);
    }

    /**
     * The label of a position; blanks for a tick between positions. XChart removes ticks until all labels differ, so
     * each blank label has a different length.
     */
    private String label(double place) {
        int index = (int) Math.round(-place);
        boolean hit = Math.abs(index + place) < TICK_ERROR && index >= 0 && index < labels.size();
        return hit ? labels.get(index) : " ".repeat((int) (BLANKS_A_PLACE * (place + labels.size() + 1)));
    }
}
