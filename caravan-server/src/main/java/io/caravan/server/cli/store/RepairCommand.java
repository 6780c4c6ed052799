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

/** Cuts a damaged log off, so that a store that refuses to open opens again. */
@Command(
        name = "repair",
        description = {
            "Cuts the log of a store that nobody has open off before its first damaged frame.",
            "What followed is lost to the store; every file that is changed or removed is copied first."
        },
        footer = "Exit code 0: repaired, or nothing to repair; 1: it cannot help; 2: wrongly called.",
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
