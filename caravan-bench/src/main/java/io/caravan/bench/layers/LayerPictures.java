package io.caravan.bench.layers;

import io.caravan.bench.layers.Layer.Where;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.CategoryChart;

/** Bars in the order in which an append runs the layers. */
final class LayerPictures {
    private static final int LABEL_DEGREES = 60;
    /** Start of the logarithmic axis. */
    private static final double LEAST_NANOS = 10;

    private LayerPictures() {}

    /** Layers, a colour for each thread. */
    static Picture layers(Results results) {
        String title = "Where the time of an append goes, at PROCESS";
        CategoryChart chart = bars(title, "nanoseconds an append");
        // Each bar belongs to one thread only, so none hides another.
        chart.getStyler().setOverlapped(true);
        // Otherwise labels are left out.
        chart.getStyler().setXAxisMaxLabelCount(Layer.values().length + 2);
        List<String> categories = new ArrayList<>();
        for (Where where : List.of(Where.CALLER, Where.FLUSHER, Where.MACHINE)) {
            titles(where).forEach(layer -> categories.add(category(where, layer)));
        }
        for (Where where : List.of(Where.CALLER, Where.FLUSHER, Where.MACHINE)) {
            List<Double> values = new ArrayList<>(Collections.nCopies(categories.size(), Double.NaN));
            for (String layer : titles(where)) {
                double nanos = results.median(Layers.row(where, layer), LayerFigures.NANOS);
                values.set(categories.indexOf(category(where, layer)), Math.max(0, nanos));
            }
            Charts.add(chart, name(where), categories, values);
        }
        return new Picture(
                "layers",
                title,
                "Each bar is one layer measured alone, in the order in which an append runs it; the rest is the"
                        + " remaining time of its thread. The two threads work concurrently. Grey: the machine's"
                        + " time for the same copy and checksum.",
                chart);
    }

    /** Draws whole appends. */
    static Picture ways(Results results) {
        String title = "A whole append, by what lies around the store";
        CategoryChart chart = bars(title, "nanoseconds an append");
        Charts.logY(chart);
        // Otherwise the axis would start at zero, which a logarithmic axis cannot show.
        chart.getStyler().setYAxisMin(LEAST_NANOS);
        List<Way> ways = Arrays.stream(Way.values())
                .filter(way -> !Double.isNaN(results.median(way.row(), LayerFigures.NANOS)))
                .toList();
        List<String> bars = ways.stream().map(Way::title).toList();
        Charts.add(chart, "from one to the next", bars, medians(results, ways, LayerFigures.NANOS));
        Charts.add(chart, "processor time", bars, medians(results, ways, LayerFigures.CPU_NANOS));
        return new Picture(
                "ways",
                title,
                "Lower is better; each grid line is ten times the one below it. Producers do not wait for each"
                        + " append: this is the time from one acknowledgement to the next. Through a server, every"
                        + " append is forced before its answer.",
                chart);
    }

    private static CategoryChart bars(String title, String yTitle) {
        CategoryChart chart = Charts.bars(title, "", yTitle);
        chart.getStyler().setXAxisLabelRotation(LABEL_DEGREES).setYAxisDecimalPattern("#,###");
        return chart;
    }

    private static List<Double> medians(Results results, List<Way> ways, Figure figure) {
        return ways.stream()
                .map(way -> Math.max(LEAST_NANOS, results.median(way.row(), figure)))
                .toList();
    }

    private static List<String> titles(Where where) {
        List<String> titles =
                new ArrayList<>(Layer.on(where).stream().map(Layer::title).toList());
        if (where != Where.MACHINE) {
            titles.add(Layers.REST);
        }
        return titles;
    }

    private static String category(Where where, String layer) {
        return layer.equals(Layers.REST) ? layer + ", " + where.name().toLowerCase(Locale.ROOT) : layer;
    }

    private static String name(Where where) {
        return where == Where.MACHINE ? Charts.MACHINE : where.toString();
    }
}
