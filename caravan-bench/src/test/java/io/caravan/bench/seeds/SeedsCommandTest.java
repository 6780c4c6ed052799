package io.caravan.bench.seeds;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.Durability;
import io.caravan.bench.Main;
import io.caravan.bench.report.Figure;
import io.caravan.bench.seeds.Posts.Compared;
import io.caravan.bench.seeds.Posts.Headline;
import java.io.IOException;
import java.nio.file.Files;
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
        Path out = directory.resolve("out");
        Path work = directory.resolve("work");
        assertThat(Main.run("seeds", "--quick", "--out", out.toString(), "--dir", work.toString()))
                .isZero();
        JsonNode report = new ObjectMapper().readTree(out.resolve("seeds.json").toFile());
        Set<String> measured = new HashSet<>();
        for (JsonNode row : report.path("rows")) {
            for (JsonNode figure : row.path("figures")) {
                assertThat(figure.path("median").asDouble()).as("%s", row).isPositive();
            }
            if (row.path("figures").has(Seeds.RATIO.title())) {
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
        assertThat(Files.readString(out.resolve("seeds.md"))).contains("| remarks");
        assertThat(work).doesNotExist();
    }

    @Test
    void whatIsBetterThanTheHeadlineIsAboveOne() {
        Headline rate = new Headline("", "", "", Figure.APPENDS_PER_SECOND, 100, true);
        Headline time = new Headline("", "", "", Figure.SECONDS, 2, false);
        assertThat(rate.ratio(200)).isEqualTo(2);
        assertThat(time.ratio(0.5)).isEqualTo(4);
    }
}
