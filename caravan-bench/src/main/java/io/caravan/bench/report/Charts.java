package io.caravan.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Creates charts in a common style. A system has the same color in all charts. The colors are the palette of Okabe and
 * Ito, which is safe for color-blind readers.
 */
public final class Charts {
    /** The prefix of the names of all hardware limits. In line charts, such limits are drawn as dashed lines. */
    public static final String MACHINE = "the machine";

    private static final int WIDTH = 1000;
    private static final int HEIGHT = 600;
    /** The number format of axes. By default, a logarithmic axis would show powers of ten. */
    private static final String NUMBERS = "#,##0.####";

    private static final Color GRID = new Color(0xDDDDDD);
    private static final BasicStroke SOLID = new BasicStroke(2.5f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
    private static final BasicStroke DASHED =
            new BasicStroke(2.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {9, 7}, 0);
    private static final String CARAVAN = "Caravan";
    /** The colors of Caravan: the first color is for Caravan itself, and the others are for its variants. */
    private static final List<Color> BLUES = List.of(
            new Color(0x0072B2),
            new Color(0x003A5C),
            new Color(0x6BB3DD),
            new Color(0xA9D3EC),
            new Color(0x2B4FA8),
            new Color(0x7A94B5));

    private static final List<Color> GREYS = List.of(new Color(0x555555), new Color(0x8C8C8C), new Color(0xB8B8B8));
    private static final List<Color> OTHERS = List.of(
            new Color(0xD55E00),
            new Color(0x009E73),
            new Color(0xCC79A7),
            new Color(0xE69F00),
            new Color(0x8C510A),
            new Color(0x882255),
            new Color(0x999933),
            new Color(0x332288),
            new Color(0xAA4499));
    private static final Map<String, Color> COLORS = new ConcurrentHashMap<>(Map.of(CARAVAN, BLUES.get(0)));

    private Charts() {}

    /** Creates an empty line chart. */
    public static XYChart lines(String title, String xTitle, String yTitle) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        return chart;
    }

    /** Creates an empty bar chart. */
    public static CategoryChart bars(String title, String xTitle, String yTitle) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        chart.getStyler().setAvailableSpaceFill(0.85);
        return chart;
    }

    private static void style(AxesChartStyler styler) {
        styler.setChartBackgroundColor(Color.WHITE)
                .setPlotBorderVisible(false)
                .setLegendBorderColor(Color.WHITE)
                .setLegendPosition(LegendPosition.OutsideE)
                .setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 14))
                .setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 18))
                .setChartPadding(14)
                .setDecimalPattern(NUMBERS)
                .setMarkerSize(7);
        styler.setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 15))
                .setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13))
                .setPlotGridLinesColor(GRID)
                .setAxisTickMarksColor(GRID)
                .setXAxisLogarithmicDecadeOnly(true)
                .setYAxisLogarithmicDecadeOnly(true);
    }

    public static void logY(XYChart chart) {
        chart.getStyler().setYAxisLogarithmic(true);
    }

    /** Adds a system's line. Omits points whose value is NaN. Adds nothing if no points are left. */
    public static void add(XYChart chart, String system, List<Double> xs, List<Double> ys) {
        Map<Double, Double> points = measured(xs, ys);
        if (points.isEmpty()) {
            return;
        }
        XYSeries series = chart.addSeries(system, List.copyOf(points.keySet()), List.copyOf(points.values()));
        series.setLineColor(color(system));
        series.setMarkerColor(color(system));
        series.setLineStyle(system.startsWith(MACHINE) ? DASHED : SOLID);
        series.setMarker(system.startsWith(MACHINE) ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
    }

    /** Adds a system's bars, one for each category of the chart. Omits bars whose value is NaN. */
    public static void add(CategoryChart chart, String system, List<String> categories, List<Double> values) {
        List<Double> bars =
                values.stream().map(value -> value.isNaN() ? 0 : value).toList();
        CategorySeries series = chart.addSeries(system, categories, bars);
        series.setFillColor(color(system));
    }

    private static <X> Map<X, Double> measured(List<X> xs, List<Double> ys) {
        Map<X, Double> points = new LinkedHashMap<>();
        for (int i = 0; i < xs.size(); i++) {
            if (!ys.get(i).isNaN()) {
                points.put(xs.get(i), ys.get(i));
            }
        }
        return points;
    }

    private static Color color(String system) {
        String family = family(system);
        return switch (family) {
            case MACHINE -> color(system, family, GREYS);
            case CARAVAN -> color(system, family, BLUES);
            default -> color(system, family, OTHERS);
        };
    }

    /** Returns the color of the system or, if it has none yet, assigns the next color of its family. */
    private static synchronized Color color(String system, String family, List<Color> colors) {
        Color known = COLORS.get(system);
        if (known != null) {
            return known;
        }
        long used = COLORS.keySet().stream()
                .filter(name -> family.equals(family(name)))
                .count();
        Color color = colors.get((int) (used % colors.size()));
        COLORS.put(system, color);
        return color;
    }

    private static String family(String system) {
        if (system.startsWith(MACHINE)) {
            return MACHINE;
        }
        return system.startsWith(CARAVAN) ? CARAVAN : "";
    }
}
