package io.caravan.server.cli.store;

import io.caravan.DurableListStore;
import io.caravan.RepairReport;
import io.caravan.server.cli.common.Progress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Cuts a damaged log before its first damaged frame, so that the store can be opened again. */
@Command(
        name = "repair",
        description = {
            "Cuts off the log of a closed store before its first damaged frame, so that the store opens again.",
            "The store loses what followed; every file is copied before it is changed or removed."
        },
        footer = {
            "  caravan repair letters --dry-run",
            "  caravan repair letters --keep cut-off",
            "",
            "Exit code 0: repaired, or nothing to repair; 1: it cannot be repaired; 2: wrong usage;"
                    + " of a dry run, 3: there is something to repair."
        })
public final class RepairCommand extends StoreCommand {
    private static final int TO_REPAIR = 3;

    @Parameters(paramLabel = "DIR", description = "The store's directory.")
    private Path directory;

    @ArgGroup(multiplicity = "1")
    private Way way;

    /** The mode: repair, or a dry run. */
    private static final class Way {
        @Option(
                names = "--keep",
                paramLabel = "FOLDER",
                description = "A new or empty folder for the copies, outside the store's directory.")
        @Nullable
        Path keep;

        @Option(names = "--dry-run", description = "Say what would be cut off and changed, and change nothing.")
        boolean dryRun;
    }

    @Override
    int run() {
        oneStore(directory);
        try (Progress progress = showProgress()) {
            return way.keep == null ? plan() : repair(way.keep);
        }
    }

    private int plan() {
        RepairReport plan = DurableListStore.planRepair(directory, noteProgress());
        if (plan.nothingDone()) {
            tellNothing();
            return CommandLine.ExitCode.OK;
        }
        tell(directory + ": the log would be cut off at LSN " + plan.cutLsn() + "; would be changed or removed:", plan);
        return TO_REPAIR;
    }

    private int repair(Path keep) {
        RepairReport report = DurableListStore.repair(directory, keep, noteProgress());
        if (report.nothingDone()) {
            tellNothing();
        } else {
            tell(
                    directory + ": the log was cut off at LSN " + report.cutLsn() + "; copies of what was changed:",
                    report);
        }
        return CommandLine.ExitCode.OK;
    }

    private void tellNothing() {
        print(directory + " opens as it is; nothing was changed", json -> json.writeNullField("cutLsn"));
    }

    private void tell(String line, RepairReport report) {
        print(line, json -> json.writeNumberField("cutLsn", report.cutLsn()));
        report.keptFiles().forEach(file -> print(file, json -> json.writeStringField("file", file)));
    }
}
