package io.caravan.server.cli.archive;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.Pruning;
import io.caravan.server.archive.Pruning.PruneListener;
import io.caravan.server.archive.Pruning.PruneReport;
import io.caravan.server.archive.Pruning.Removal;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "prune",
        description = {
            "Removes snapshots that no manifest names and that can no longer be committed. With the options below, also"
                    + " removes old generations, and documents that were deleted long ago. A server prunes"
                    + " automatically (see --archive-prune in 'caravan serve --help') by its own settings and those of"
                    + " its spaces. This command does not know these settings, so give it the largest numbers of the"
                    + " server and its spaces. Run it with --dry-run first.",
            "The command removes no generation unless --keep, --keep-days or --keep-daily is given; the others of the"
                    + " three then have a server's defaults. A generation stays if it is among the newest --keep of its"
                    + " document, or is not older than --keep-days, or is the newest of a day that is not older than"
                    + " --keep-daily. The latest generation therefore always stays.",
            "The command removes no deleted document unless --retain is given. It may run while a server archives. If it"
                    + " is interrupted, the next run continues."
        },
        exitCodeList = {
            "0:done",
            "1:failed: no archive, no permission, or a document that cannot be pruned",
            "2:usage error"
        },
        footer = {
            "  caravan archive prune --archive s3://bucket/prefix --keep 10 --keep-days 30 --retain 90 --dry-run",
            "  caravan archive prune --archive s3://bucket/prefix --keep 10 --keep-days 30 --retain 90"
        })
final class ArchivePruneCommand extends ArchiveCommand.Subcommand {
    @Option(
            names = "--keep",
            paramLabel = "N",
            description = "Number of newest generations of each document that stay at any age, 1 or more; "
                    + PrunePolicy.DEFAULT_GENERATIONS + " if only another of the three is given.")
    private @Nullable Integer keep;

    @Option(
            names = "--keep-days",
            paramLabel = "DAYS",
            description = "Generations up to this age also stay; 0 for none; " + PrunePolicy.DEFAULT_AGE_DAYS
                    + " if only another of the three is given.")
    private @Nullable Integer keepDays;

    @Option(
            names = "--keep-daily",
            paramLabel = "DAYS",
            description = "For this number of days, the newest generation of each day also stays; 0 for none; "
                    + PrunePolicy.DEFAULT_DAYS + " if only another of the three is given.")
    private @Nullable Integer keepDaily;

    @Option(
            names = "--retain",
            paramLabel = "DAYS",
            description = "Remove documents that were deleted longer ago than this, 1 or more; a server's default is "
                    + PrunePolicy.DEFAULT_RETAIN_DAYS + ".")
    private @Nullable Integer retainDays;

    @Option(names = "--dry-run", description = "Print the objects that would be removed, and remove nothing.")
    private boolean dryRun;

    @Override
    void checkOptions() {
        check(keep == null || keep >= 1, "--keep must be 1 or more: the latest generation of a document always stays");
        check(keepDays == null || keepDays >= 0, "--keep-days must be 0 or more");
        check(keepDaily == null || keepDaily >= 0, "--keep-daily must be 0 or more");
        check(retainDays == null || retainDays >= 1, "--retain must be 1 or more");
    }

    private boolean keepsAllGenerations() {
        return keep == null && keepDays == null && keepDaily == null;
    }

    private PrunePolicy policy() {
        Duration retain = Duration.ofDays(retainDays == null ? Integer.MAX_VALUE : retainDays);
        return keepsAllGenerations()
                ? new PrunePolicy(Integer.MAX_VALUE, Duration.ZERO, 0, retain)
                : new PrunePolicy(
                        number(keep, PrunePolicy.DEFAULT_GENERATIONS),
                        Duration.ofDays(number(keepDays, PrunePolicy.DEFAULT_AGE_DAYS)),
                        number(keepDaily, PrunePolicy.DEFAULT_DAYS),
                        retain);
    }

    private static int number(@Nullable Integer given, String otherwise) {
        return given == null ? Integer.parseInt(otherwise) : given;
    }

    @Override
    void run(Archive archive, Output output) throws IOException {
        PrunePolicy policy = policy();
        PruneReport report;
        try (Progress progress = countProgress("documents")) {
            PruneListener listener = new PruneListener() {
                @Override
                public void removed(Removal removal) {
                    Output.unchecked(() -> print(removal, output));
                }

                @Override
                public void problem(String message) {
                    printMessage(message);
                }

                @Override
                public void done() {
                    progress.add(1, 0);
                }
            };
            report = new Pruning(archive, name -> policy, System.currentTimeMillis(), dryRun, listener).run(jobs());
        }
        output.print(describe(report, dryRun), Output.fields("dryRun", dryRun, report));
        if (keepsAllGenerations()) {
            printMessage("no generations are selected: use --keep, --keep-days and --keep-daily to select old ones");
        }
        if (retainDays == null) {
            printMessage("no deleted documents are selected: --retain sets their age");
        }
        exitWith(report.problems() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE);
    }

    private void print(Removal removal, Output output) throws IOException {
        String kind = removal.kind().name().toLowerCase(Locale.ROOT);
        String line = String.format(
                Locale.ROOT, "%-10s  %10s  %s  '%s'", kind, size(removal.bytes()), removal.key(), removal.document());
        output.print(
                DocumentName.printable(line),
                Output.fields(
                        dryRun ? "wouldRemove" : "removed",
                        kind,
                        "document",
                        removal.document(),
                        "key",
                        removal.key(),
                        "bytes",
                        removal.bytes()));
    }

    static String describe(PruneReport report, boolean dryRun) {
        return (dryRun ? "would remove " : "removed ") + count(report.generations(), "generation") + ", "
                + count(report.leftovers(), "leftover") + " and " + count(report.forgotten(), "deleted document")
                + ", " + size(report.bytes()) + ", of " + count(report.documents(), "document")
                + (report.waiting() == 0
                        ? ""
                        : "\n" + count(report.waiting(), "snapshot") + " without a manifest may still be committed by a"
                                + " server; a later run checks them again")
                + (report.undeletable() == 0
                        ? ""
                        : "\n" + count(report.undeletable(), "manifest") + " of documents that were deleted stay,"
                                + " because the service does not support conditional deletions, or does not permit"
                                + " deletions");
    }
}
