package io.caravan.bench.service;

import io.caravan.bench.load.Timeline.Second;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Picture;
import io.caravan.bench.server.MeasuredServer;
import java.awt.BasicStroke;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws the pictures of one protocol's runs. */
final class ServicePictures {
    private static final double MICROS_PER_MILLI = 1e3;
    /** The shortest time shown; shorter times are shown as this time, because a logarithmic axis cannot show 0. */
    private static final double LEAST_MICROS = 1;

    private static final BasicStroke DOTTED =
            new BasicStroke(2f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND, 1, new float[] {1, 6}, 0);

    private final Front front;
    private final LoadRuns runs;
    private final String load;

    ServicePictures(Front front, LoadRuns runs) {
        this.front = front;
        this.runs = runs;
        load = String.format(
                Locale.ROOT, "%,d appends per second over %s", front.plan().rate(), front.name());
    }

    /**
     * Draws all pictures of the protocol's runs.
     *
     * @param forceMillis duration of one fsync on the disk
     * @param echoMillis latency of a server that does nothing
     */
    List<Picture> all(double forceMillis, double echoMillis) {
        return List.of(waits(forceMillis), distribution(echoMillis), replies());
    }

    private Picture waits(double forceMillis) {
        String title = "Waits, second by second: " + load;
        XYChart chart = Charts.lines(title, "second since the server began to serve", "ms (solid: p98, dotted: p50)");
        Charts.logY(chart);
        List<Double> xs = seconds();
        for (MeasuredServer subject : runs.subjects()) {
            List<Second> seconds = runs.median(subject).timeline().seconds();
            Charts.add(chart, subject.name(), xs, millis(seconds, 98));
            addMedian(chart, subject.name(), xs, millis(seconds, 50));
        }
        Charts.add(
                chart,
                Charts.MACHINE + ": fsync of 4 KiB, p50",
                xs,
                xs.stream().map(x -> forceMillis).toList());
        return new Picture(
                file("waits"),
                title,
                "Each server's median run, including its first second. 98 of 100 appends waited no longer than the solid"
                        + " line, half of them no longer than the dotted one; lower is better.",
                chart);
    }

    /** Adds the line of a system's medians, in the color of the system's existing line. */
    private static void addMedian(XYChart chart, String system, List<Double> xs, List<Double> ys) {
        XYSeries p98 = chart.getSeries(system);
        p98.setLabel(system + ", p98");
        XYSeries p50 = chart.addSeries(system + ", p50", xs, ys);
        p50.setLineColor(p98.getLineColor()).setLineStyle(DOTTED);
        p50.setMarker(SeriesMarkers.NONE);
    }

    private static List<Double> millis(List<Second> seconds, double percentile) {
        return seconds.stream()
                .map(second -> millis(second.waits(), percentile))
                .toList();
    }

    private static double millis(Histogram micros, double percentile) {
        return Math.max(LEAST_MICROS, micros.getValueAtPercentile(percentile)) / MICROS_PER_MILLI;
    }

    private List<Double> seconds() {
        return IntStream.rangeClosed(1, front.plan().seconds())
                .mapToObj(second -> (double) second)
                .toList();
    }

    private Picture distribution(double echoMillis) {
        String title = "How long appends wait: " + load;
        XYChart chart = Charts.lines(title, "of all appends, so many wait at most", "ms");
        chart.getStyler().setXAxisLogarithmic(true);
        Charts.logY(chart);
        chart.getStyler().setXAxisTickLabelsFormattingFunction(Nines::label);
        List<Double> ends = new ArrayList<>(List.of(1.0));
        for (MeasuredServer subject : runs.subjects()) {
            Histogram waits = runs.waits(subject);
            List<Double> xs = Nines.upTo(waits.getTotalCount());
            Charts.add(
                    chart,
                    subject.name(),
                    xs,
                    xs.stream().map(x -> millis(waits, Nines.percentile(x))).toList());
            chart.getSeries(subject.name()).setMarker(SeriesMarkers.NONE);
            ends.add(xs.get(xs.size() - 1));
        }
        double end = ends.stream().mapToDouble(Double::doubleValue).max().orElse(1);
        Charts.add(chart, Charts.MACHINE + ": an echo, p50", List.of(1.0, end), List.of(echoMillis, echoMillis));
        return new Picture(
                file("distribution"),
                title,
                "All runs, their first seconds included. Each step to the right is ten times rarer: at 99.9 %, one"
                        + " append in a thousand waits longer than the line shows.",
                chart);
    }

    private Picture replies() {
        String title = "Replies, second by second: " + load;
        CategoryChart chart = Charts.bars(title, "second since the server began to serve", "replies in the second");
        List<String> categories = seconds().stream()
                .map(second -> Long.toString(Math.round(second)))
                .toList();
        for (MeasuredServer subject : runs.subjects()) {
            List<Second> seconds = runs.median(subject).timeline().seconds();
            Charts.add(chart, subject.name(), categories, counts(seconds, Second::acks));
            if (seconds.stream().anyMatch(second -> second.failures() > 0)) {
                Charts.add(chart, subject.name() + ", failures", categories, counts(seconds, Second::failures));
            }
        }
        return new Picture(
                file("answers"),
                title,
                String.format(
                        Locale.ROOT,
                        "Acknowledgments in each second of the median run; %,d were due in each. A lower bar leaves"
                                + " appends waiting, for which a later bar makes up. Failures are drawn where they"
                                + " occurred.",
                        front.plan().rate()),
                chart);
    }

    private static List<Double> counts(List<Second> seconds, ToDoubleFunction<Second> count) {
        return seconds.stream().map(count::applyAsDouble).toList();
    }

    private String file(String what) {
        return front.name().toLowerCase(Locale.ROOT) + "-" + what;
    }
}
