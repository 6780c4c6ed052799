package io.caravan.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs benchmark suites with tiny counts, and checks their reports. */
public final class SuiteRun {

    private SuiteRun() {}

    /**
     * Runs a suite with tiny counts, checks that it deletes its working directory, and returns the report.
     *
     * @param directory contains the report in {@code out}
     */
    public static JsonNode report(String suite, Path directory, String... options) throws IOException {
        Path out = directory.resolve("out");
        Path work = directory.resolve("work");
        List<String> arguments = new ArrayList<>(List.of(suite, "--quick"));
        arguments.addAll(List.of("--out", out.toString(), "--dir", work.toString()));
        arguments.addAll(List.of(options));
        assertThat(Main.run(arguments.toArray(String[]::new))).isZero();
        assertThat(work).doesNotExist();
        return new ObjectMapper().readTree(out.resolve(suite + ".json").toFile());
    }

    /** Runs a suite, checks that no value in its report is negative, and returns the rows. */
    public static JsonNode quickly(String suite, Path directory) throws IOException {
        JsonNode rows = report(suite, directory).path("rows");
        for (JsonNode row : rows) {
            assertThat(row.path("durability").asText()).isNotEmpty();
            assertThat(row.path("figures").isEmpty()).as("%s", row).isFalse();
            for (JsonNode figure : row.path("figures")) {
                assertThat(figure.path("median").isNumber()).as("%s", row).isTrue();
                assertThat(figure.path("median").asDouble()).as("%s", row).isNotNegative();
            }
        }
        return rows;
    }

    /** Returns the median of a measured quantity in a row. */
    public static double value(JsonNode rows, String workload, String system, String durability, String figure) {
        for (JsonNode row : rows) {
            if (row.path("workload").asText().equals(workload)
                    && row.path("system").asText().equals(system)
                    && row.path("durability").asText().equals(durability)) {
                return row.path("figures").path(figure).path("median").asDouble();
            }
        }
        throw new AssertionError("no row of " + workload + " by " + system + ", " + durability);
    }

    /** Checks that each picture exists as a PNG file and as an SVG file. */
    public static void assertPictures(Path directory, String suite, String... names) {
        Path out = directory.resolve("out");
        for (String name : names) {
            assertThat(out.resolve(suite + "-" + name + ".png")).isNotEmptyFile();
            assertThat(out.resolve(suite + "-" + name + ".svg")).isNotEmptyFile();
        }
    }
}
