package io.caravan.bench.service;

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

/** Runs the service suite with tiny counts and without peers. */
class ServiceCommandTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void measuresAndPlotsEverySecond() throws IOException {
        JsonNode report = SuiteRun.report("service", directory, "--alone");
        List<String> rows = new ArrayList<>();
        for (JsonNode row : report.path("rows")) {
            rows.add(row.path("workload").asText() + " | " + row.path("system").asText());
            check(row);
        }
        assertThat(rows)
                .contains(
                        "write and fsync of 4 KiB | the machine",
                        "RPUSH, 500 per second to an echo in the client | the machine",
                        "RPUSH, 500 per second, whole run | Caravan",
                        "RPUSH, 500 per second, whole run | Redis, appendfsync always",
                        "RPUSH, 500 per second, whole run | Redis, appendfsync everysec",
                        "RPUSH, second 1 | Caravan",
                        "POST, 500 per second, whole run | Caravan",
                        "POST, 500 per second, whole run | reference server 0.3.7",
                        "POST, second 1 | Caravan");
        for (String picture : List.of("waits", "distribution", "answers")) {
            SuiteRun.assertPictures(directory, "service", "resp-" + picture, "http-" + picture);
        }
    }

    private static void check(JsonNode row) {
        JsonNode figures = row.path("figures");
        assertThat(figures.isEmpty()).isEqualTo(row.path("durability").asText().startsWith("not measured: "));
        assertThat(figures.path("failures").path("max").asDouble())
                .as("failures of %s", row)
                .isZero();
        if (row.path("workload").asText().endsWith("whole run") && !figures.isEmpty()) {
            assertThat(figures.path("acks").path("median").asDouble()).isEqualTo(500);
            assertThat(figures.path("p50, ms").path("median").asDouble()).isPositive();
        }
    }

    @Test
    void rejectsZeroRate() {
        assertThat(Main.run("service", "--rate", "0")).isEqualTo(2);
    }
}
