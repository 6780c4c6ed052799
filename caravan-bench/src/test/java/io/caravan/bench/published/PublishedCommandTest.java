package io.caravan.bench.published;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.Durability;
import io.caravan.bench.SuiteRun;
import io.caravan.bench.published.PublishedNumbers.Compared;
import io.caravan.bench.published.PublishedNumbers.Headline;
import io.caravan.bench.report.Figure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the suite of published numbers with tiny counts. */
class PublishedCommandTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void comparesEveryHeadlineWithCaravan() throws IOException {
        JsonNode report = SuiteRun.report("published", directory);
        Set<String> measured = new HashSet<>();
        for (JsonNode row : report.path("rows")) {
            for (JsonNode figure : row.path("figures")) {
                assertThat(figure.path("median").asDouble()).as("%s", row).isPositive();
            }
            if (row.path("figures").has(PublishedCommand.Published.RATIO.title())) {
                assertThat(row.path("remark").asText()).as("%s", row).isNotEmpty();
                measured.add(
                        row.path("workload").asText() + row.path("durability").asText());
            }
        }
        for (Compared compared : PublishedNumbers.all(true)) {
            for (Headline headline : compared.headlines()) {
                for (Durability level : compared.levels()) {
                    assertThat(measured).contains(compared.name() + headline.suffix() + level);
                }
            }
        }
        assertThat(directory.resolve("out/published.md")).content().contains("| remarks");
    }

    @Test
    void betterResultHasRatioAboveOne() {
        Headline rate = new Headline("", "", "", Figure.APPENDS_PER_SECOND, 100);
        Headline time = new Headline("", "", "", Figure.SECONDS, 2);
        assertThat(rate.ratio(200)).isEqualTo(2);
        assertThat(time.ratio(0.5)).isEqualTo(4);
    }
}
