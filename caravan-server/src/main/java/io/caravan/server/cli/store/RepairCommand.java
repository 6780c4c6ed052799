package io.caravan.server.cli.store;

import io.caravan.DurableListStore;
import io.caravan.RepairReport;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "repair",
        description = "Cuts the log of a closed store before its first damaged frame, so that the store can be opened"
                + " again. The store loses all writes from this frame on. Before the command changes or removes a file, it"
                + " copies the file.",
        exitCodeList = {
            "0:the store was repaired, or there is nothing to repair",
            "1:the store cannot be repaired",
            "2:usage error",
            "3:with --dry-run, there is something to repair"
        },
        footer = {"  caravan repair letters --dry-run", "  caravan repair letters --keep cut-off"})
public final class RepairCommand extends StoreCommand {
    @Mixin
    private Format format;

    @ArgGroup(multiplicity = "1")
    private Way way;

    /** The mode: repair, or a dry run. */
    private static final class Way {
        @Option(
                names = "--keep",
                paramLabel = "DIR",
                description = "Repair the store, and keep copies of the changed files in this directory, which must be"
                        + " new or empty, and outside the store.")
        @Nullable
        Path keep;

        @Option(
                names = "--dry-run",
                description = "Print the position of the cut and the affected files, and change nothing.")
        boolean dryRun;
    }

    @Override
    protected void run(Output output) throws IOException {
        Path directory = oneStore();
        Path keep = way.keep;
        RepairReport report;
        try (Progress progress = showNotedProgress()) {
            report = keep == null
                    ? DurableListStore.planRepair(directory, noteProgress())
                    : DurableListStore.repair(directory, keep, noteProgress());
        }
        boolean needless = report.nothingDone();
        printAnyway(
                output,
                directory
                        + (needless
                                ? " can be opened as it is; nothing was changed"
                                : ": the log " + (keep == null ? "would be" : "was") + " cut off at LSN "
                                        + report.cutLsn()
                                        + (keep == null
                                                ? "; files that would be changed or removed:"
                                                : "; copies of the changed files:")),
                Output.fields("cutLsn", needless ? null : report.cutLsn()));
        report.keptFiles().forEach(file -> printAnyway(output, file, Map.of("file", file)));
        output.flush();
        exitWith(keep == null && !needless ? UNEXPECTED : CommandLine.ExitCode.OK);
    }
}
