package io.caravan.server.cli.store;

import io.caravan.DurableListStore;
import io.caravan.RepairReport;
import io.caravan.server.cli.common.VersionProvider;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Cuts a damaged log off at its first damaged frame, so that the store opens again. */
@Command(
        name = "repair",
        description = {
            "Cuts off the log of a closed store before its first damaged frame, so that the store opens again.",
            "The store loses what followed; every file is copied before it is changed or removed."
        },
        footer = "Exit code 0: repaired, or nothing to repair; 1: it cannot be repaired; 2: wrong usage.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class RepairCommand implements Callable<Integer> {
    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(paramLabel = "DIR", description = "The store's directory.")
    private Path directory;

    @Option(
            names = "--keep",
            required = true,
            paramLabel = "FOLDER",
            description = "A new or empty folder for the copies, outside the store's directory.")
    private Path keep;

    @Override
    public Integer call() {
        RepairReport report = DurableListStore.repair(directory, keep);
        PrintWriter out = spec.commandLine().getOut();
        if (report.nothingDone()) {
            out.println(directory + " opens as it is; nothing was changed");
        } else {
            out.println(
                    directory + ": the log was cut off at LSN " + report.cutLsn() + "; copies of what was changed:");
            report.keptFiles().forEach(out::println);
        }
        return CommandLine.ExitCode.OK;
    }
}
