package io.caravan.bench.fragmentation;

import io.caravan.bench.report.Picture;
import java.awt.Color;
import java.awt.Font;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.knowm.xchart.HeatMapChart;
import org.knowm.xchart.HeatMapChartBuilder;

/**
 * A heap's map before and after, side by side: each cell is a slice of the address space; addresses rise along the rows
 * and from bottom to top.
 */
final class MapPicture {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 700;
    private static final int COLUMNS = 64;
    private static final int GAP = 4;
    private static final int PERCENT = 100;
    private static final int BYTES_PER_KB = 1024;
    private static final Color HOLE = new Color(0xE69F00);
    private static final Color HALF = new Color(0xB7D3E5);
    private static final Color USED = new Color(0x0072B2);

    private final String system;
    private final MapPair maps;

    MapPicture(String system, MapPair maps) {
        this.system = system;
        this.maps = maps;
    }

    /** The chart; the wide gap places each word below its half. */
    Picture picture() {
        String title = "The heap's map before and after " + maps.turnovers() + " turnovers: " + system;
        return new Picture(
                "map-" + system.toLowerCase(Locale.ROOT).replaceAll("[^a-z]+", "-"),
                title,
                "Left: before the first turnover; right: after the last. Each cell is "
                        + HeapMap.SLICE_BYTES / BYTES_PER_KB
                        + " KiB of address space, rising from the bottom row to the top: blue is used, orange is a"
                        + " hole, white is beyond the end. Both heaps go through the same life.",
                chart(title));
    }

    private HeatMapChart chart(String title) {
        HeatMapChart chart = new HeatMapChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle("before                                                                     after")
                .yAxisTitle("addresses, from the bottom")
                .build();
        chart.getStyler()
                .setShowValue(false)
                .setMin(0)
                .setMax(PERCENT)
                .setRangeColors(new Color[] {HOLE, HALF, USED})
                .setAxisTicksVisible(false)
                .setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 15))
                .setPlotGridLinesVisible(false)
                .setPlotBorderVisible(false)
                .setChartBackgroundColor(Color.WHITE)
                .setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 18))
                .setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 14));
        int rows = Math.max(rows(maps.before()), rows(maps.after()));
        chart.addSeries(
                "used, percent",
                IntStream.range(0, 2 * COLUMNS + GAP).boxed().toList(),
                IntStream.range(0, rows).boxed().toList(),
                cells());
        return chart;
    }

    private static int rows(HeapMap map) {
        return (map.shares().length + COLUMNS - 1) / COLUMNS;
    }

    private List<Number[]> cells() {
        List<Number[]> cells = new ArrayList<>();
        addCells(cells, maps.before(), 0);
        addCells(cells, maps.after(), COLUMNS + GAP);
        return cells;
    }

    private static void addCells(List<Number[]> cells, HeapMap map, int left) {
        double[] shares = map.shares();
        for (int i = 0; i < shares.length; i++) {
            cells.add(new Number[] {left + i % COLUMNS, i / COLUMNS, Math.round(shares[i] * PERCENT)});
        }
    }
}
