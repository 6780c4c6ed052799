package io.caravan.bench.gate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.Main;
import io.caravan.testing.simulator.SabotagedBuild;
import io.caravan.testing.simulator.SourceEdit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The gate passes this build and fails builds that were slowed on purpose. */
class GateTest {
    private static final Path CORE = Path.of("../caravan-core");

    @TempDir
    private Path directory;

    /** Ways to slow a build, and the ratio that must detect each. */
    private enum Slowdown {
        BUSY_APPENDS(
                Ratio.APPEND_CPU,
                new SourceEdit("engine/ListChanges", "        state.counters.appendedBytes += length;\n", """
                                state.counters.appendedBytes += length;
                                long end = System.nanoTime() + 5_000;
                                while (System.nanoTime() < end) {
                                    Thread.onSpinWait();
                                }
                        """)),
        A_SECOND_FORCE(
                Ratio.FORCES_PER_FLUSH,
                new SourceEdit(
                        "wal/LogWriter",
                        "segments.file(segment).force();",
                        "segments.file(segment).force();\n            segments.file(segment).force();")),
        WRITTEN_TWICE(
                Ratio.WRITTEN_BYTES,
                new SourceEdit(
                        "wal/LogWriter",
                        "        segments.file(segment).write(sealed, geometry.offsetOf(lsn));\n",
                        "        segments.file(segment).write(sealed.duplicate(), geometry.offsetOf(lsn));\n"
                                + "        segments.file(segment).write(sealed, geometry.offsetOf(lsn));\n")),
        GARBAGE(
                Ratio.GARBAGE,
                new SourceEdit(
                        "engine/ListChanges",
                        "        state.counters.appendedBytes += length;\n",
                        "        state.counters.appendedBytes += length;\n        garbage = new byte[200];\n"),
                new SourceEdit(
                        "engine/ListChanges",
                        "    private long lastRemovalLsn = NEVER;\n",
                        "    private long lastRemovalLsn = NEVER;\n    byte[] garbage;\n"));

        private final Ratio ratio;
        private final List<SourceEdit> edits;

        Slowdown(Ratio ratio, SourceEdit... edits) {
            this.ratio = ratio;
            this.edits = List.of(edits);
        }
    }

    @ParameterizedTest
    @EnumSource(Slowdown.class)
    void fitsTheSource(Slowdown slowdown) throws IOException {
        assertThat(SabotagedBuild.sources(CORE, slowdown.edits)).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(Slowdown.class)
    @Tag("alone")
    void stopsABuildThatIsSlower(Slowdown slowdown) throws Exception {
        SabotagedBuild build = SabotagedBuild.of(CORE, slowdown.edits, directory);
        assertThat(gate(build)).isEqualTo(1);
        assertThat(over()).contains(slowdown.ratio.title());
    }

    @Test
    @Tag("alone")
    void letsThisBuildThrough() throws Exception {
        assertThat(gate(SabotagedBuild.of(CORE, List.of(), directory))).isZero();
        assertThat(over()).isEmpty();
        assertThat(ratios()).hasSameSizeAs(Ratio.values());
        for (JsonNode ratio : ratios()) {
            assertThat(ratio.path("median").asDouble()).as(ratio.toString()).isPositive();
            assertThat(ratio.path("meaning").asText()).isNotEmpty();
        }
    }

    @Test
    void refusesADirectoryThatHoldsSomething() throws IOException {
        Path something = Files.createFile(directory.resolve("something"));
        assertThat(Main.run("gate", "--quick", "--dir", directory.toString())).isEqualTo(2);
        assertThat(something).exists();
    }

    /** Returns the exit status. */
    private int gate(SabotagedBuild build) throws ReflectiveOperationException {
        String[] arguments = {
            "gate",
            "--quick",
            "--out",
            directory.resolve("out").toString(),
            "--dir",
            directory.resolve("work").toString()
        };
        return (int) build.loadClass(Main.class.getName())
                .getMethod("run", String[].class)
                .invoke(null, (Object) arguments);
    }

    private JsonNode ratios() throws IOException {
        return new ObjectMapper()
                .readTree(directory.resolve("out").resolve("gate.json").toFile())
                .path("ratios");
    }

    private List<String> over() throws IOException {
        List<String> over = new ArrayList<>();
        for (JsonNode ratio : ratios()) {
            if (ratio.path("over").asBoolean()) {
                over.add(ratio.path("ratio").asText());
            }
        }
        return over;
    }
}
