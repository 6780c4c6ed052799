package io.caravan.bench.gate;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caravan.bench.Machine;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.WorkDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code scripts/bench gate}: checks the performance of this build against upper limits. */
@Command(
        name = "gate",
        mixinStandardHelpOptions = true,
        description = {
            "Fails if this build has become too slow. To work on any machine, it measures ratios instead of times: the"
                    + " time of the engine divided by the time of the same work without a store, or with another store, at"
                    + " the same moment.",
            "",
            "Each ratio has a ceiling (in ceilings.json, next to the source of the gate), which the median of all"
                    + " rounds must not exceed. Rounds are added while the middle half of the rounds of a ratio contains"
                    + " its ceiling. The exit status is 1 if a ratio exceeds its ceiling."
        },
        footer = {"", "Example:", "  bench gate --quick --out results"})
public final class GateCommand implements Callable<Integer> {
    @Option(names = "--quick", description = "smaller counts: takes about 40 s, for use with every change")
    private boolean quick;

    @Option(names = "--out", paramLabel = "DIR", description = "where to write gate.json; default: nowhere")
    private @Nullable Path out;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description =
                    "working directory on the disk to measure; must be missing or empty, and is emptied afterwards;"
                            + " default: a temporary directory")
    private @Nullable Path directory;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (directory != null && !WorkDirectories.missingOrEmpty(directory) && spec != null) {
            throw new ParameterException(spec.commandLine(), "--dir must be missing or empty");
        }
        try (WorkDirectory work = WorkDirectory.make(directory)) {
            List<RatioVerdict> verdicts = measure(work.path());
            GateReport report = new GateReport(Machine.facts(work.path()), verdicts);
            System.out.println(report);
            if (out != null) {
                report.writeTo(out);
            }
            return verdicts.stream().anyMatch(RatioVerdict::over) ? 1 : 0;
        }
    }

    private List<RatioVerdict> measure(Path work) throws IOException, InterruptedException {
        try (Gate gate = new Gate(Ceilings.read(quick), work, quick)) {
            return gate.verdicts();
        }
    }

    /** Reports the verdicts as text for people and as JSON for programs. */
    private static final class GateReport {
        private static final String LINE = "%-26s %10s %10s %10s %10s  %-4s %s%n";

        private final Map<String, String> facts;
        private final List<RatioVerdict> verdicts;

        /** Creates a report of these verdicts, with facts about the machine. */
        GateReport(Map<String, String> facts, List<RatioVerdict> verdicts) {
            this.facts = facts;
            this.verdicts = verdicts;
        }

        /** Writes {@code gate.json}. */
        void writeTo(Path directory) throws IOException {
            Files.createDirectories(directory);
            new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .writeValue(directory.resolve("gate.json").toFile(), json());
        }

        private ObjectNode json() {
            ObjectNode root = new ObjectMapper().createObjectNode();
            ObjectNode machine = root.putObject("machine");
            facts.forEach(machine::put);
            ArrayNode ratios = root.putArray("ratios");
            for (RatioVerdict verdict : verdicts) {
                ObjectNode node = ratios.addObject()
                        .put("ratio", verdict.ratio().title())
                        .put("meaning", verdict.ceiling().meaning())
                        .put("min", verdict.min())
                        .put("median", verdict.median())
                        .put("max", verdict.max())
                        .put("ceiling", verdict.ceiling().most())
                        .put("over", verdict.over());
                verdict.rounds().forEach(node.putArray("rounds")::add);
            }
            return root;
        }

        /** Returns a table, followed by advice on ratios that exceed their ceilings. */
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            text.append(String.format(Locale.ROOT, LINE, "ratio", "median", "min", "max", "ceiling", "", "meaning"));
            for (RatioVerdict verdict : verdicts) {
                text.append(String.format(
                        Locale.ROOT,
                        LINE,
                        verdict.ratio().title(),
                        number(verdict.median()),
                        number(verdict.min()),
                        number(verdict.max()),
                        number(verdict.ceiling().most()),
                        verdict.over() ? "OVER" : "ok",
                        verdict.ceiling().meaning()));
            }
            verdicts.stream()
                    .filter(RatioVerdict::over)
                    .forEach(verdict -> text.append('\n')
                            .append(verdict.ratio().title())
                            .append(" is over its ceiling. ")
                            .append(verdict.ceiling().advice())
                            .append('\n'));
            return text.toString();
        }

        private static String number(double value) {
            return String.format(Locale.ROOT, "%,.2f", value);
        }
    }
}
