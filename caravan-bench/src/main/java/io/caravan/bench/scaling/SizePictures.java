package io.caravan.bench.scaling;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.XYChart;

/** Lines over the size of the store, with both axes logarithmic. */
enum SizePictures {
    BY_ENTRIES("entries", size -> size.entries(), true),
    BY_LISTS("lists", size -> size.lists(), false);

    static final String NUMBERS = "#,###.##";

    private final String axis;
    private final ToDoubleFunction<Size> position;
    private final boolean ofOpening;

    SizePictures(String axis, ToDoubleFunction<Size> position, boolean ofOpening) {
        this.axis = axis;
        this.position = position;
        this.ofOpening = ofOpening;
    }

    /** Whether opening after a kill is shown, and must therefore be measured. */
    boolean ofOpening() {
        return ofOpening;
    }

    /** Draws the results so far. */
    List<Picture> of(Results results, List<Size> sizes) {
        Picture operations = operations(results, sizes, "One operation, by " + axis + " in the store");
        return ofOpening ? List.of(operations, openings(results, sizes)) : List.of(operations);
    }

    private Picture operations(Results results, List<Size> sizes, String title) {
        XYChart chart = chart(title, "nanoseconds");
        if (this == BY_ENTRIES) {
            // Otherwise only one size has such lists.
            add(chart, "get of 10 entries", results, sizes, SizeFigures.GET_NANOS);
        }
        add(chart, "append, not waited for", results, sizes, SizeFigures.APPEND_NANOS);
        add(chart, "get of the last entry", results, sizes, SizeFigures.GET_LAST_NANOS);
        add(chart, "get of a missing list", results, sizes, SizeFigures.GET_MISSING_NANOS);
        addMachine(chart, Charts.MACHINE + ": a random read", results, sizes, SizeFigures.RANDOM_READ_NANOS);
        return new Picture(
                "operations-by-" + axis,
                title,
                "Flat is good. The dashed line is a dependent read at a random place in a buffer as large as the"
                        + " index: where it rises, the index no longer fits the processor's caches. An operation"
                        + " needs a few such reads, some of which may overlap.",
                chart);
    }

    private Picture openings(Results results, List<Size> sizes) {
        String title = "Opening, checkpoint and verification, by entries in the store";
        XYChart chart = chart(title, "milliseconds");
        add(chart, "open after a kill", results, sizes, SizeFigures.OPEN_KILLED_MILLIS);
        add(chart, "verify", results, sizes, SizeFigures.VERIFY_MILLIS);
        add(chart, "open after a clean close", results, sizes, SizeFigures.OPEN_MILLIS);
        add(chart, "checkpoint", results, sizes, SizeFigures.CHECKPOINT_MILLIS);
        addMachine(chart, Charts.MACHINE + ": read the log", results, sizes, SizeFigures.LOG_READ_MILLIS);
        return new Picture(
                "opening-by-" + axis,
                title,
                "A clean open reads the index only; after a kill, here without any checkpoint, every append is replayed."
                        + " The dashed line reads the same log and computes its checksum.",
                chart);
    }

    private XYChart chart(String title, String yTitle) {
        XYChart chart = Charts.lines(title, axis + " in the store", yTitle);
        Charts.logX(chart);
        Charts.logY(chart);
        chart.getStyler().setXAxisDecimalPattern(NUMBERS).setYAxisDecimalPattern(NUMBERS);
        return chart;
    }

    private void add(XYChart chart, String name, Results results, List<Size> sizes, Figure figure) {
        add(chart, name, results, sizes, figure, StoreSizes.CARAVAN);
    }

    private void addMachine(XYChart chart, String name, Results results, List<Size> sizes, Figure figure) {
        add(chart, name, results, sizes, figure, Charts.MACHINE);
    }

    private void add(XYChart chart, String name, Results results, List<Size> sizes, Figure figure, String system) {
        Charts.add(
                chart,
                name,
                sizes.stream().map(position::applyAsDouble).toList(),
                sizes.stream()
                        .map(size -> results.median(StoreSizes.row(size, system), figure))
                        .toList());
    }
}
