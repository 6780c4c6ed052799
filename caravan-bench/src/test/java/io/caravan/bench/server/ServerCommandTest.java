package io.caravan.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.Main;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs the parts of the server suite with tiny counts and without peers. */
class ServerCommandTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(ServerCommand.Part.class)
    @Tag("thorough")
    void measuresAndReports(ServerCommand.Part part) throws IOException {
        JsonNode rows = SuiteRun.report("server", directory, "--alone", "--only", part.toString())
                .path("rows");
        assertThat(rows).anyMatch(ServerCommandTest::isCaravans);
        for (JsonNode row : rows) {
            String durability = row.path("durability").asText();
            assertThat(row.path("figures").isEmpty()).isEqualTo(durability.startsWith("not measured: "));
            for (JsonNode figure : row.path("figures")) {
                assertThat(figure.path("runs")).hasSize(1);
            }
            assertThat(row.path("figures").path("errors").path("max").asDouble())
                    .as("errors of %s", row)
                    .isZero();
        }
        assertThat(directory.resolve("out/server.md")).content().contains("| workload", "durability", "by hand");
    }

    private static boolean isCaravans(JsonNode row) {
        return row.path("system").asText().equals(Caravan.NAME);
    }

    @Test
    void rejectsUnknownPart() {
        assertThat(Main.run("server", "--only", "everything")).isEqualTo(2);
    }
}
