package io.caravan.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Compares the tables of metrics in the documentation with {@link Statistics}. */
class MetricsDocumentTest {
    private static final Path PAGE = Path.of("../docs/reference/metrics.md");
    /** The system property that makes the test rewrite the page if it is {@code true}. */
    private static final String WRITE = "caravan.write-docs";

    @Test
    void metricTablesMatchStatistics() throws IOException {
        List<String> lines = new ArrayList<>(Files.readAllLines(PAGE));
        Statistics.SECTIONS.forEach((heading, statistics) -> {
            List<String> rows = rows(lines, heading);
            rows.clear();
            statistics.stream().filter(Statistic::isMetric).map(Statistic::row).forEach(rows::add);
        });
        String page = String.join("\n", lines) + "\n";
        if (Boolean.getBoolean(WRITE)) {
            Files.writeString(PAGE, page);
        }
        assertThat(Files.readString(PAGE))
                .as("run this test with -D" + WRITE + "=true to rewrite the page")
                .isEqualTo(page);
    }

    /** Returns the rows of the first table of metrics below a heading. */
    private static List<String> rows(List<String> lines, String heading) {
        int first = lines.indexOf(heading);
        assertThat(first).as(heading).isNotNegative();
        while (!lines.get(first).startsWith("| metric |")) {
            first++;
        }
        first += 2;
        int end = first;
        while (lines.get(end).startsWith("|")) {
            end++;
        }
        return lines.subList(first, end);
    }
}
