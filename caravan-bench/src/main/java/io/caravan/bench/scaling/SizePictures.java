package io.caravan.bench.scaling;

import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.XYChart;

/** Lines over the size of stores, both axes logarithmic. */
enum SizePictures {
    BY_ENTRIES("entries", size -> size.entries()) {
        @Override
        List<Picture> of(Results results, List<Size> sizes) {
            return List.of(
                    operations(results, sizes, "One operation, by entries in the store"), openings(results, sizes));
        }
    },
    BY_LISTS("lists", size -> size.lists()) {
        @Override
        List<Picture> of(Results results, List<Size> sizes) {
            return List.of(operations(results, sizes, "One operation, by lists in the store"));
        }
    };

    static final String NUMBERS = "#,###.##";

    private final String axis;
    private final ToDoubleFunction<Size> position;

    SizePictures(String axis, ToDoubleFunction<Size> position) {
        this.axis = axis;
        this.position = position;
    }

    /** Draws what has been measured so far. */
    abstract List<Picture> of(Results results, List<Size> sizes);

    Picture operations(Results results, List<Size> sizes, String title) {
        XYChart chart = chart(title, "nanoseconds");
        add(chart, "get of 10 entries", results, sizes, SizeFigures.GET_NANOS);
        add(chart, "append, not waited for", results, sizes, SizeFigures.APPEND_NANOS);
        add(chart, "get of the last entry", results, sizes, SizeFigures.GET_LAST_NANOS);
        add(chart, "get of a missing list", results, sizes, SizeFigures.GET_MISSING_NANOS);
        addMachine(chart, Charts.MACHINE + ": a random read", results, sizes, SizeFigures.RANDOM_READ_NANOS);
        return new Picture(
                "operations-by-" + axis,
                title,
                "Flat is good. The dashed line is one read of memory at a random place in a buffer as large as the"
                        + " index: where it rises, the index no longer fits the processor's caches, and each operation"
                        + " pays for the few such reads that it needs.",
                chart);
    }

    Picture openings(Results results, List<Size> sizes) {
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
