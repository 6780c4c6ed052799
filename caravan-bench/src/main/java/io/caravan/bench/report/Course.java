package io.caravan.bench.report;

import io.caravan.bench.Machine;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.WorkDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of a benchmark: the number of runs, the working directory, and the directory for the results. A picocli
 * mixin for the benchmark's command.
 */
public final class Course {
    private static final int RUNS = 5;

    @Option(names = "--quick", description = "tiny counts and one run: shows that it works, but not how fast it is")
    private boolean quick;

    @Option(names = "--runs", paramLabel = "N", description = "number of runs of each part; default 5, with --quick 1")
    private @Nullable Integer runs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "directory for the results: a .md and a .json file named like this command, and pictures; also"
                            + " rebuilds report.html from all reports in DIR; default: nowhere, or bench-report for all")
    private @Nullable Path out;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description =
                    "working directory on the disk to measure; must be missing or empty, and is emptied afterwards;"
                            + " default: a temporary directory")
    private @Nullable Path directory;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    /** Whether this is a quick run, with tiny counts. */
    public boolean quick() {
        return quick;
    }

    /** Returns the directory for the results, or null if none is given. */
    public @Nullable Path out() {
        return out;
    }

    /** Returns the given options except the directory for the results, for use with the command of a suite. */
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        if (quick) {
            arguments.add("--quick");
        }
        if (runs != null) {
            arguments.addAll(List.of("--runs", runs.toString()));
        }
        if (directory != null) {
            arguments.addAll(List.of("--dir", directory.toString()));
        }
        return arguments;
    }

    /**
     * Runs the selected parts, or all, as {@link #run} does, and measures the machine's limits at the beginning of each
     * run. Returns the exit status.
     */
    public <P> int runAfterLimits(@Nullable List<P> only, P[] all, Function<P, Measure> measure)
            throws IOException, InterruptedException {
        Stream<P> parts = only == null ? Stream.of(all) : only.stream();
        run(Stream.concat(Stream.of(new MachineLimits(quick)), parts.map(measure))
                .toList());
        return 0;
    }

    /** Runs all parts as often as requested, and prints the results. */
    public void run(List<Measure> measures) throws IOException, InterruptedException {
        check(directory == null || WorkDirectories.missingOrEmpty(directory), "--dir must be missing or empty");
        check(runs == null || runs >= 1, "--runs must be 1 or more");
        try (WorkDirectory made = WorkDirectory.make(directory)) {
            measure(made.path(), measures);
        }
    }

    /** Runs all parts, and writes the results after every run, so that a later failure does not lose them. */
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

    /** Rejects the command's arguments with this message unless the condition holds. */
    public void check(boolean holds, String message) {
        if (!holds && command != null) {
            throw new ParameterException(command.commandLine(), message);
        }
    }
}
