package io.caravan.bench.gate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.bench.Main;
import io.caravan.testing.simulator.SabotagedBuild;
import io.caravan.testing.simulator.SourceEdit;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs the performance gate on builds that were slowed down on purpose. */
@Tag("slow")
class GateTest {
    private static final Path CORE = Path.of("../caravan-core");

    @TempDir
    private Path directory;

    /** Changes that slow down a build, each with the ratio that must detect it. */
    private enum Slowdown {
        BUSY_APPENDS(
                Ratio.APPEND_CPU, new SourceEdit("engine/WritePath", "        writes.appendedBytes += length;\n", """
                            writes.appendedBytes += length;
                            for (int i = 0; i < 1_000; i++) {
                                Thread.onSpinWait();
                            }
                    """)),
        BUSY_REPLAY(
                Ratio.OPEN_AFTER_KILL,
                new SourceEdit(
                        "engine/IndexReplay",
                        "        if (index.next(list) != sequence) {\n",
                        spin(200) + "        if (index.next(list) != sequence) {\n")),
        BUSY_LOADING(
                Ratio.OPEN_AFTER_CLOSE,
                new SourceEdit(
                        "engine/IndexReplay",
                        "            long region = regions.getLong(at + i * Long.BYTES);\n",
                        "            long region = regions.getLong(at + i * Long.BYTES);\n" + spin(200))),
        BUSY_EVACUATION(
                Ratio.OPEN_UNTIL_CHECKPOINT,
                new SourceEdit("engine/LogEvacuation", "youngLeft--;\n", "youngLeft--;\n" + spin(5_000))),
        FIVE_WRITES_OF_4K(Ratio.LARGE_VALUES_4K, fiveWrites()),
        FIVE_WRITES_OF_64K(Ratio.LARGE_VALUES_64K, fiveWrites()),
        BUSY_READS(
                Ratio.LIST_READS,
                new SourceEdit(
                        "engine/ReadPath",
                        "                int at = newestFirst ? count - 1 - i : i;\n",
                        "                int at = newestFirst ? count - 1 - i : i;\n" + spin(200))),
        IMPEDED_READERS(Ratio.SMALL_READS, impededReaders()),
        A_SECOND_FSYNC(
                Ratio.FSYNCS_PER_FLUSH,
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
                        "engine/WritePath",
                        "        writes.appendedBytes += length;\n",
                        "        writes.appendedBytes += length;\n        garbage = new byte[200];\n"),
                new SourceEdit(
                        "engine/WritePath",
                        "    private long lastRemovalLsn = NEVER;\n",
                        "    private long lastRemovalLsn = NEVER;\n    byte[] garbage;\n"));

        /** The slowdowns whose ratio is a count, which the load on the machine does not affect. */
        private static final Set<Slowdown> COUNTED = EnumSet.of(A_SECOND_FSYNC, WRITTEN_TWICE, GARBAGE);

        private final Ratio ratio;
        private final List<SourceEdit> edits;

        Slowdown(Ratio ratio, SourceEdit... edits) {
            this.ratio = ratio;
            this.edits = List.of(edits);
        }

        private static String spin(Object times) {
            return "for (int spin = 0; spin < " + times + "; spin++) {\nThread.onSpinWait();\n}\n";
        }

        private static SourceEdit fiveWrites() {
            return new SourceEdit(
                    "wal/LogWriter",
                    "        segments.file(segment).write(sealed, geometry.offsetOf(lsn));\n",
                    "        for (int i = 0; i < 4; i++) {\n"
                            + "            segments.file(segment).write(sealed.duplicate(), geometry.offsetOf(lsn));\n"
                            + "            segments.file(segment).force();\n        }\n"
                            + "        segments.file(segment).write(sealed, geometry.offsetOf(lsn));\n");
        }

        /** Makes each read slow as long as two threads read from one store, even if they share a core. */
        private static SourceEdit[] impededReaders() {
            return new SourceEdit[] {
                new SourceEdit(
                        "engine/ReadPath",
                        "    private static final int SLICE = 512;\n",
                        "    private static final int SLICE = 512;\n    private final java.util.Set<Thread> readers =\n"
                                + "            java.util.concurrent.ConcurrentHashMap.newKeySet();\n"),
                new SourceEdit(
                        "engine/ReadPath",
                        "        Boolean all = whilePinned(",
                        "        readers.add(Thread.currentThread());\n"
                                + "        readers.removeIf(reader -> !reader.isAlive());\n"
                                + "        int pauses = readers.size() > 1 ? 500 : 0;\n"
                                + spin("pauses")
                                + "        Boolean all = whilePinned(")
            };
        }
    }

    /**
     * Checks that each slowdown raises a ratio above its ceiling. Times rise several times over, so that the load on the
     * machine does not affect the result.
     */
    @ParameterizedTest
    @EnumSource(Slowdown.class)
    void slowedBuildExceedsCeiling(Slowdown slowdown) throws Exception {
        double ceiling = Ceilings.read(true).get(slowdown.ratio).most();
        if (Slowdown.COUNTED.contains(slowdown)) {
            assertThat(measured(slowdown.ratio, List.of())).isPositive().isLessThanOrEqualTo(ceiling);
        }
        assertThat(measured(slowdown.ratio, slowdown.edits)).isGreaterThan(ceiling);
    }

    /** Returns the ratio measured in a build with these source edits. */
    private double measured(Ratio ratio, List<SourceEdit> edits) throws Exception {
        Path parent = Files.createTempDirectory(directory, "build");
        SabotagedBuild build = SabotagedBuild.of(CORE, edits, parent);
        Object there = build.loadClass(Ratio.class.getName()).getEnumConstants()[ratio.ordinal()];
        Method open = there.getClass().getDeclaredMethod("open", Path.class, boolean.class);
        open.setAccessible(true);
        Method round = build.loadClass(Probe.class.getName()).getDeclaredMethod("round");
        round.setAccessible(true);
        try (AutoCloseable probe = (AutoCloseable) open.invoke(there, parent.resolve("work"), true)) {
            double[] rounds = new double[3];
            for (int i = 0; i < rounds.length; i++) {
                rounds[i] = (double) round.invoke(probe);
            }
            return Costs.median(rounds);
        }
    }

    /** Checks only the exit status. {@code scripts/bench gate} decides whether a build passes on a machine. */
    @Test
    @Tag("thorough")
    void exitStatusShowsWhetherAnyRatioExceedsCeiling() throws IOException {
        Path out = directory.resolve("out");
        int status = Main.run(
                "gate",
                "--quick",
                "--out",
                out.toString(),
                "--dir",
                directory.resolve("work").toString());
        JsonNode ratios =
                new ObjectMapper().readTree(out.resolve("gate.json").toFile()).path("ratios");
        assertThat(ratios).hasSameSizeAs(Ratio.values());
        boolean over = false;
        for (JsonNode ratio : ratios) {
            assertThat(ratio.path("median").asDouble()).as(ratio.toString()).isPositive();
            assertThat(ratio.path("meaning").asText()).isNotEmpty();
            over |= ratio.path("over").asBoolean();
        }
        assertThat(status).isEqualTo(over ? 1 : 0);
    }

    @Test
    void rejectsNonEmptyDirectory() throws IOException {
        Path something = Files.createFile(directory.resolve("something"));
        assertThat(Main.run("gate", "--quick", "--dir", directory.toString())).isEqualTo(2);
        assertThat(something).exists();
    }
}
