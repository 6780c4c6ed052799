package io.caravan.bench.fragmentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class FragmentationCommandTest {
    @TempDir
    private Path out;

    @Test
    @Tag("thorough")
    void livesOnBothHeaps() throws IOException {
        JsonNode rows = SuiteRun.quickly("fragmentation", out);
        assertThat(rows).hasSize(1 + 2 * Turnovers.LOOKS.size());
        for (String system : new String[] {Turnovers.CARAVAN, Turnovers.FIRST_FIT}) {
            for (String figure : new String[] {"size / live", "most ever live / live", "allocation, mean, ns"}) {
                assertThat(SuiteRun.value(rows, "turnover 50", system, "in memory", figure))
                        .as(figure)
                        .isPositive();
            }
        }
        SuiteRun.assertPictures(out, "fragmentation", "size", "cost", "map-caravan", "map-first-fit-linked-list");
    }
}
