package io.caravan.bench.seeds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.Durability;
import io.caravan.bench.SuiteRun;
import io.caravan.bench.report.Figure;
import io.caravan.bench.seeds.Posts.Compared;
import io.caravan.bench.seeds.Posts.Headline;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The suite of the seeds with tiny counts. */
class SeedsCommandTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void everyHeadlineStandsBesideWhatCaravanDoes() throws IOException {
        JsonNode report = SuiteRun.report("seeds", directory);
        Set<String> measured = new HashSet<>();
        for (JsonNode row : report.path("rows")) {
            for (JsonNode figure : row.path("figures")) {
                assertThat(figure.path("median").asDouble()).as("%s", row).isPositive();
            }
            if (row.path("figures").has(SeedsCommand.Seeds.RATIO.title())) {
                assertThat(row.path("remark").asText()).as("%s", row).isNotEmpty();
                measured.add(
                        row.path("workload").asText() + row.path("durability").asText());
            }
        }
        for (Compared compared : Posts.all(true)) {
            for (Headline headline : compared.headlines()) {
                for (Durability level : compared.levels()) {
                    assertThat(measured).contains(compared.name() + headline.suffix() + level);
                }
            }
        }
        assertThat(directory.resolve("out/seeds.md")).content().contains("| remarks");
    }

    @Test
    void whatIsBetterThanTheHeadlineIsAboveOne() {
        Headline rate = new Headline("", "", "", Figure.APPENDS_PER_SECOND, 100);
        Headline time = new Headline("", "", "", Figure.SECONDS, 2);
        assertThat(rate.ratio(200)).isEqualTo(2);
        assertThat(time.ratio(0.5)).isEqualTo(4);
    }
}
