package io.caravan.bench.scaling;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class ScalingCommandTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void measuresStoresOfEverySizeBesideTheMachine() throws IOException {
        Path out = directory.resolve("out");
        Path work = directory.resolve("work");
        assertThat(Main.run("scaling", "--quick", "--out", out.toString(), "--dir", work.toString()))
                .isZero();
        List<JsonNode> rows = rows(out);
        // Two sizes twice, two shapes of lists, five operations by two numbers of threads.
        assertThat(rows).hasSize(2 * 2 * 2 + 2 * 2 + 5 * 2);
        assertThat(rows).allSatisfy(row -> {
            assertThat(row.path("durability").asText()).isNotEmpty();
            assertThat(row.path("figures"))
                    .isNotEmpty()
                    .allSatisfy(figure -> assertThat(figure.path("median").asDouble())
                            .as(row.toString())
                            .isPositive());
        });
        assertThat(figures(rows, "10,000 entries in 1,000 lists", "Caravan"))
                .contains(
                        "append, ns",
                        "get of a missing list, ns",
                        "longest hold of the lock, us",
                        "open after a kill, ms",
                        "verify, ms");
        assertThat(figures(rows, "10,000 entries in 1,000 lists", "the machine"))
                .contains("random read of memory, ns");
        assertThat(work).doesNotExist();
        for (String picture : List.of(
                "operations-by-entries", "opening-by-entries", "operations-by-lists", "whole-lists", "by-threads")) {
            assertThat(out.resolve("scaling-" + picture + ".png")).isNotEmptyFile();
        }
    }

    private static List<JsonNode> rows(Path out) throws IOException {
        JsonNode report =
                new ObjectMapper().readTree(out.resolve("scaling.json").toFile());
        return StreamSupport.stream(report.path("rows").spliterator(), false).toList();
    }

    private static List<String> figures(List<JsonNode> rows, String workload, String system) {
        JsonNode row = rows.stream()
                .filter(node -> node.path("workload").asText().equals(workload)
                        && node.path("system").asText().equals(system))
                .findFirst()
                .orElseThrow();
        return row.path("figures").properties().stream()
                .map(figure -> figure.getKey())
                .toList();
    }
}
