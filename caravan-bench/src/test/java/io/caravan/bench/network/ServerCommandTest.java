package io.caravan.bench.network;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The parts of the server suite with tiny counts and without peers. */
class ServerCommandTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(Part.class)
    @Tag("thorough")
    void measuresAndReports(Part part) throws IOException {
        Path out = directory.resolve("out");
        Path work = directory.resolve("work");
        assertThat(Main.run(
                        "server",
                        "--quick",
                        "--alone",
                        "--only",
                        part.toString(),
                        "--out",
                        out.toString(),
                        "--dir",
                        work.toString()))
                .isZero();
        JsonNode rows =
                new ObjectMapper().readTree(out.resolve("server.json").toFile()).path("rows");
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
        assertThat(Files.readString(out.resolve("server.md"))).contains("| workload", "durability", "by hand");
        assertThat(work).doesNotExist();
    }

    private static boolean isCaravans(JsonNode row) {
        return row.path("system").asText().equals(Caravan.NAME);
    }

    @Test
    void refusesAPartThatThereIsNot() {
        assertThat(Main.run("server", "--only", "everything")).isEqualTo(2);
    }
}
