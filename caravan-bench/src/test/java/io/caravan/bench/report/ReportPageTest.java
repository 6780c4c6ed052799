package io.caravan.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.bench.report.Results.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;

/** Tests the self-contained HTML page that presents all results. */
class ReportPageTest {
    @TempDir
    private Path directory;

    @Test
    void embedsMetricsAndPicturesOfAllReports() throws IOException {
        new Report("zebra", Map.of("cores", "3"), List.of(new Waits())).writeTo(directory);
        new Report("engine", Map.of("cores", "2"), List.of(new Waits())).writeTo(directory);
        Files.writeString(directory.resolve("other.json"), "{}");
        ReportPage.write(directory);

        String page = Files.readString(directory.resolve("report.html"));
        assertThat(page).contains("<b>2.00</b><small>1.00 to 3.00</small>", "a &lt;wait&gt;", "<dd>3</dd>");
        assertThat(page.indexOf("id=\"engine\"")).isPositive().isLessThan(page.indexOf("id=\"zebra\""));
        assertThat(page).contains("data:image/png;base64,").doesNotContain("http");
        assertThat(directory.resolve("zebra-waits.png")).isNotEmptyFile();
        assertThat(directory.resolve("zebra-waits.svg")).content().contains("<svg");
    }

    private static final class Waits implements Measure {
        @Override
        public void run(Turn turn) {}

        @Override
        public Table table() {
            Results results = new Results();
            for (double millis : new double[] {1, 3, 2}) {
                results.add(new Row("a <wait>", "Caravan", "SYNC"), new Measurement().with(Figure.P50_MILLIS, millis));
            }
            return new Table("Waits", "", results);
        }

        @Override
        public List<Picture> pictures() {
            XYChart chart = Charts.lines("Waits", "run", "ms");
            Charts.logY(chart);
            Charts.add(chart, "Caravan", List.of(1.0, 2.0, 3.0), List.of(1.0, Double.NaN, 2.0));
            Charts.add(chart, Charts.MACHINE, List.of(1.0, 3.0), List.of(0.5, 0.5));
            Charts.add(chart, "never measured", List.of(1.0), List.of(Double.NaN));
            assertThat(chart.getSeriesCollection())
                    .extracting(XYSeries::getName)
                    .containsExactly("Caravan", Charts.MACHINE);
            return List.of(new Picture("waits", "Waits", "Less is better.", chart));
        }
    }
}
