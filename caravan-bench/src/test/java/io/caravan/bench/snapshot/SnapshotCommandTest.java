package io.caravan.bench.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.Main;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class SnapshotCommandTest {
    @TempDir
    private Path out;

    @Test
    void measuresAndReports() throws IOException {
        assertThat(Main.run("snapshot", "--quick", "--out", out.toString())).isZero();
        JsonNode report =
                new ObjectMapper().readTree(out.resolve("snapshot.json").toFile());
        assertThat(report.path("rows")).hasSize(15);
        for (JsonNode row : report.path("rows")) {
            assertThat(row.path("figures").path("value MB/s").path("median").asDouble())
                    .isPositive();
        }
    }
}
