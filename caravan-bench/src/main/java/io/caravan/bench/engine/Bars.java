package io.caravan.bench.engine;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.knowm.xchart.CategoryChart;

/**
 * A bar chart of medians: one group for each measured quantity, with a bar for each system for which all quantities
 * were measured.
 */
public final class Bars {
    /** The start of a logarithmic axis, as a fraction of the smallest bar, so that this bar has some height. */
    private static final double BELOW_LEAST = 0.8;

    private final CategoryChart chart;
    private final List<Group> groups = new ArrayList<>();
    private double least = Double.MAX_VALUE;
    private boolean logarithmic;

    public Bars(String title, String yTitle) {
        chart = Charts.bars(title, "", yTitle);
        chart.getStyler().setYAxisDecimalPattern("#,##0.#");
    }

    /** A group of bars, and the source of its values. */
    private record Group(String label, Results results, String workload, Figure figure) {}

    /** Adds a group of bars for one measured quantity. All groups must be added before the first system. */
    public Bars group(String label, Results results, String workload, Figure figure) {
        groups.add(new Group(label, results, workload, figure));
        return this;
    }

    /**
     * Adds the bars of a system under the given name. Does nothing unless the quantities of all groups have been
     * measured.
     */
    public Bars system(String name, String system, String durability) {
        List<Double> values = groups.stream()
                .map(group -> group.results.median(new Row(group.workload, system, durability), group.figure))
                .toList();
        if (values.stream().noneMatch(value -> value.isNaN())) {
            least = Math.min(least, Collections.min(values));
            Charts.add(chart, name, groups.stream().map(Group::label).toList(), values);
        }
        return this;
    }

    /** Makes the vertical axis logarithmic. */
    public Bars logarithmic() {
        logarithmic = true;
        return this;
    }

    /** Completes the chart. A logarithmic axis has no zero, so it starts below the smallest bar. */
    public CategoryChart chart() {
        if (logarithmic) {
            chart.getStyler().setYAxisLogarithmic(true);
            chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(least * BELOW_LEAST))));
        }
        return chart;
    }
}
