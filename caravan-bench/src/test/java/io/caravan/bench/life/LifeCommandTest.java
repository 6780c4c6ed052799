package io.caravan.bench.life;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the suite with tiny counts, to keep it working. */
class LifeCommandTest {
    @TempDir
    private Path out;

    @Test
    @Tag("thorough")
    void everyStoreGoesThroughBothLives() throws IOException {
        JsonNode rows = SuiteRun.quickly("life", out);
        assertThat(rows).hasSize(2 * (4 + 4));
        for (JsonNode row : rows) {
            for (String figure : new String[] {"appends/s", "appended, MB", "on disk at the end, MB"}) {
                assertThat(row.path("figures").path(figure).path("median").asDouble())
                        .as("%s of %s", figure, row)
                        .isPositive();
            }
        }
        assertThat(SuiteRun.value(rows, "sessions", "Caravan", LifeRun.DURABILITY, "log and heap / appended"))
                .isGreaterThan(1);
        assertThat(Files.readString(out.resolve("life.md"))).contains("The seed is 1;");
        SuiteRun.assertPictures(out, "life", "generations");
    }
}
