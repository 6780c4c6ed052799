package io.caravan.bench.report;

import io.caravan.bench.Directories;
import io.caravan.bench.Machine;
import io.caravan.bench.WorkDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How often a benchmark's parts are run, where, and what becomes of the figures: a mixin for its command. */
public final class Course {
    private static final int RUNS = 5;

    @Option(names = "--quick", description = "tiny counts and one run: shows that it works, says nothing of speed")
    private boolean quick;

    @Option(names = "--runs", paramLabel = "N", description = "times that each is run; default 5, with --quick 1")
    private @Nullable Integer runs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "where the figures go, as a .md and a .json named like this command, with pictures; a report.html of"
                            + " all that is there is made anew; default: nowhere")
    private @Nullable Path out;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description =
                    "on the disk to measure: missing or empty; default: a temporary directory; emptied afterwards")
    private @Nullable Path directory;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    /** Whether counts are to be tiny. */
    public boolean quick() {
        return quick;
    }

    /** Runs them all as often as is asked for, and tells the figures. */
    public void run(List<Measure> measures) throws IOException, InterruptedException {
        check(directory == null || Directories.missingOrEmpty(directory), "--dir must be missing or empty");
        check(runs == null || runs >= 1, "--runs must be 1 or more");
        try (WorkDirectory made = WorkDirectory.make(directory)) {
            measure(made.path(), measures);
        }
    }

    /** The report is written after every run, so that what was measured is there even if something fails later. */
    private void measure(Path work, List<Measure> measures) throws IOException, InterruptedException {
        Map<String, String> facts = Machine.facts(work);
        int times = runs != null ? runs : quick ? 1 : RUNS;
        for (int run = 1; run <= times; run++) {
            Turn turn = new Turn(work, run, "run " + run + " of " + times);
            for (Measure measure : measures) {
                measure.run(turn);
            }
            report(facts, measures);
        }
        System.out.println(report(facts, measures));
        if (out != null) {
            System.out.println("written to " + out);
        }
    }

    private Report report(Map<String, String> facts, List<Measure> measures) throws IOException {
        String name = command == null ? "bench" : command.name();
        Report report = new Report(name, facts, measures);
        if (out != null) {
            report.writeTo(out);
            ReportPage.write(out);
        }
        return report;
    }

    private void check(boolean holds, String message) {
        if (!holds && command != null) {
            throw new ParameterException(command.commandLine(), message);
        }
    }
}
