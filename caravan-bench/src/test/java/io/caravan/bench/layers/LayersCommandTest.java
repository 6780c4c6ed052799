package io.caravan.bench.layers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class LayersCommandTest {
    /** Differences, which may be negative or zero in tiny runs. */
    private static final List<String> DIFFERENCES = List.of("all the rest", "of it: ");

    @TempDir
    private Path directory;

    @Test
    void measuresEveryLayerAndEveryWay() throws IOException {
        Path out = directory.resolve("out");
        Path work = directory.resolve("work");
        assertThat(Main.run("layers", "--quick", "--out", out.toString(), "--dir", work.toString()))
                .isZero();
        List<JsonNode> rows = rows(out);
        for (Layer layer : Layer.values()) {
            assertThat(median(rows, layer.where() + ": " + layer.title(), "ns")).isPositive();
        }
        for (Way way : Way.values()) {
            JsonNode row = row(rows, way.row().workload());
            assertThat(row.path("durability").asText()).isNotEmpty();
            if (!row.path("durability").asText().startsWith("not measured")) {
                assertThat(median(rows, way.row().workload(), "ns")).isPositive();
            }
        }
        assertThat(rows)
                .filteredOn(row -> DIFFERENCES.stream()
                        .noneMatch(difference -> row.path("workload").asText().contains(difference)))
                .filteredOn(row -> row.path("figures").has("p50, us"))
                .hasSize(5)
                .allSatisfy(row -> assertThat(row.path("figures")
                                .path("p50, us")
                                .path("median")
                                .asDouble())
                        .isPositive());
        assertThat(work).doesNotExist();
        for (String picture : List.of("layers", "ways", "waiting-parts")) {
            assertThat(out.resolve("layers-" + picture + ".png")).isNotEmptyFile();
        }
    }

    private static List<JsonNode> rows(Path out) throws IOException {
        JsonNode report = new ObjectMapper().readTree(out.resolve("layers.json").toFile());
        return StreamSupport.stream(report.path("rows").spliterator(), false).toList();
    }

    private static JsonNode row(List<JsonNode> rows, String workload) {
        return rows.stream()
                .filter(node -> node.path("workload").asText().equals(workload))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row of " + workload));
    }

    private static double median(List<JsonNode> rows, String workload, String figure) {
        return row(rows, workload).path("figures").path(figure).path("median").asDouble();
    }
}
