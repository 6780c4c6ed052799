package io.caravan.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.Main;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the cluster suite with tiny counts. */
class ClusterBenchCommandTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void measuresEverySystemAndReports() throws IOException {
        JsonNode rows = SuiteRun.report("cluster", directory, "--kills", "1").path("rows");
        List<String> measured = new ArrayList<>();
        for (JsonNode row : rows) {
            if (row.path("system").asText().startsWith("Caravan")) {
                measured.add(row.path("workload").asText() + ": "
                        + row.path("system").asText());
                assertThat(row.path("durability").asText()).contains("fsynced");
            }
            for (JsonNode figure : row.path("figures")) {
                assertThat(figure.path("median").asDouble()).as("%s", row).isPositive();
            }
        }
        for (String workload : List.of("RPUSH, P1", "RPUSH, P16", "RPUSH, P64", "RPUSH, one writer")) {
            assertThat(measured).contains(workload + ": Caravan, three nodes", workload + ": Caravan, one node alone");
        }
        assertThat(measured).contains("RPUSH after kill -9 of the leader: Caravan, three nodes");
        assertThat(directory.resolve("out/cluster.md")).content().contains("by hand", "write and fsync of 4 KiB");
    }

    @Test
    void rejectsZeroKills() {
        assertThat(Main.run("cluster", "--kills", "0")).isEqualTo(2);
    }
}
