package io.caravan.server.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.metrics.Statistic;
import io.caravan.server.metrics.Statistics;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class MetricsTest {
    /** The label whose values are prefixes of spaces. */
    private static final String PREFIX = "prefix";

    @Test
    void keepsEveryLabelExceptNamesOfSpaces() {
        Set<String> hidden = new TreeSet<>();
        Statistics.SECTIONS
                .values()
                .forEach(statistics -> statistics.stream()
                        .map(Statistic::label)
                        .filter(label -> label != null
                                && ServerReport.metrics("caravan_a{" + label + "=\"a\"} 1")
                                        .isEmpty())
                        .forEach(hidden::add));
        assertThat(hidden).containsExactly(PREFIX);
    }
}
