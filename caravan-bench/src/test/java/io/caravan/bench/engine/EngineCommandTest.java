package io.caravan.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.ChildJvm;
import io.caravan.bench.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The measurement runs, tiny, so that it does not rot. */
class EngineCommandTest {
    /** Exit status of a process that it has ended. */
    private static final int SIGTERM = 128 + 15;

    @TempDir
    private Path directory;

    @Test
    void measuresAndReports() throws IOException {
        Path out = directory.resolve("out");
        Path work = directory.resolve("work");
        assertThat(Main.run("engine", "--quick", "--out", out.toString(), "--dir", work.toString()))
                .isZero();
        JsonNode report = new ObjectMapper().readTree(out.resolve("engine.json").toFile());
        assertThat(report.path("machine").path("cores").asText()).isNotEmpty();
        assertThat(report.path("rows")).hasSize(7);
        for (JsonNode row : report.path("rows")) {
            assertThat(row.path("durability").asText()).isNotEmpty();
            assertThat(row.path("figures").path("appends/s").path("median").asDouble())
                    .isPositive();
        }
        assertThat(Files.readString(out.resolve("engine.md"))).contains("| workload", "durability", "by hand");
        assertThat(work).doesNotExist();
    }

    @Test
    void aSignalLeavesNothingBehind() throws IOException {
        Path work = directory.resolve("work");
        List<String> arguments = List.of("engine", "--quick", "--runs", "1000000", "--dir", work.toString());
        try (ChildJvm child = ChildJvm.start(Main.class.getName(), arguments, directory.resolve("log"))) {
            while (!child.output().contains("run 2 of")) {
                assertThat(child.alive()).as(child.output()).isTrue();
                Thread.onSpinWait();
            }
            assertThat(work).exists();
            child.terminate();
            assertThat(child.awaitExit()).isEqualTo(SIGTERM);
            assertThat(work).as(child.output()).doesNotExist();
        }
    }

    @Test
    void refusesADirectoryThatHoldsSomething() throws IOException {
        Files.createFile(directory.resolve("something"));
        assertThat(Main.run("engine", "--quick", "--dir", directory.toString())).isEqualTo(2);
        assertThat(directory.resolve("something")).exists();
    }
}
