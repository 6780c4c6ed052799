package io.caravan.server.cli.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.Pruning.PruneListener;
import io.caravan.server.archive.Pruning.PruneReport;
import io.caravan.server.archive.Pruning.Removal;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Removes from an archive what is not needed any more. */
@Command(
        name = "prune",
        description = {
            "Removes old generations, everything of documents that were deleted long ago, and snapshots that no manifest"
                    + " names and none will. A server does the same by itself, see --archive-prune in 'caravan serve"
                    + " --help', and keeps what a space of its store says; this command knows nothing of spaces: give it the"
                    + " greatest numbers that any of them has.",
            "A generation stays if it is among the newest --keep of its document, or is not older than --keep-days, or is"
                    + " the newest of a day that is not older than --keep-daily. So the latest one always stays. This"
                    + " command may run beside the server that archives. If it is interrupted, the next run goes on."
        },
        exitCodeList = {
            "0:done",
            "1:failed: no archive, no permission, or a document that cannot be pruned, which is told",
            "2:wrongly called"
        },
        footer = {
            "  caravan archive prune --archive s3://bucket/prefix --dry-run",
            "  caravan archive prune --archive s3://bucket/prefix --keep 10 --keep-days 30 --retain 90"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ArchivePruneCommand extends ArchiveSubcommand {
    @Option(
            names = "--keep",
            paramLabel = "N",
            defaultValue = "3",
            description = "How many of a document's newest generations stay whatever their age, 1 or more.")
    private int keep;

    @Option(
            names = "--keep-days",
            paramLabel = "DAYS",
            defaultValue = "7",
            description = "Generations that are not older stay too; 0 for none.")
    private int keepDays;

    @Option(
            names = "--keep-daily",
            paramLabel = "DAYS",
            defaultValue = "0",
            description = "For so many days, the newest generation of each day stays too; 0 for none.")
    private int keepDaily;

    @Option(
            names = "--retain",
            paramLabel = "DAYS",
            defaultValue = "30",
            description = "How long deleted documents can still be restored, 1 or more.")
    private int retainDays;

    @Option(names = "--dry-run", description = "Print what would be removed, and remove nothing.")
    private boolean dryRun;

    ArchivePruneCommand(Console console) {
        super(console);
    }

    @Override
    void checkOptions() {
        check(keep >= 1, "--keep must be 1 or more: the latest generation of a document always stays");
        check(keepDays >= 0, "--keep-days must be 0 or more");
        check(keepDaily >= 0, "--keep-daily must be 0 or more");
        check(retainDays >= 1, "--retain must be 1 or more");
    }

    @Override
    int run(Archive archive, Output output) throws IOException {
        PrunePolicy policy = new PrunePolicy(keep, Duration.ofDays(keepDays), keepDaily, Duration.ofDays(retainDays));
        PruneReport report;
        try (Progress progress = progress("documents")) {
            report = archive.prune(policy, dryRun, jobs(), System.currentTimeMillis(), new PruneListener() {
                @Override
                public void removed(Removal removal) {
                    Output.unchecked(() -> print(removal, output));
                }

                @Override
                public void problem(String message) {
                    tell(message);
                }

                @Override
                public void done() {
                    progress.add(1, 0);
                }
            });
        }
        print(report, output);
        return report.problems() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private void print(Removal removal, Output output) throws IOException {
        String kind = removal.kind().name().toLowerCase(Locale.ROOT);
        String line = String.format(
                Locale.ROOT,
                "%-10s  %10s  %s  %s",
                kind,
                Figures.size(removal.bytes()),
                removal.key(),
                DocumentName.printable(removal.document()));
        print(output, line, fields -> {
            fields.writeStringField(dryRun ? "wouldRemove" : "removed", kind);
            fields.writeStringField("document", removal.document());
            fields.writeStringField("key", removal.key());
            fields.writeNumberField("bytes", removal.bytes());
        });
    }

    private void print(PruneReport report, Output output) throws IOException {
        if (json()) {
            output.object(fields -> {
                fields.writeBooleanField("dryRun", dryRun);
                fields.writeNumberField("documents", report.documents());
                fields.writeNumberField("generations", report.generations());
                fields.writeNumberField("leftovers", report.leftovers());
                fields.writeNumberField("forgotten", report.forgotten());
                fields.writeNumberField("bytes", report.bytes());
                fields.writeNumberField("waiting", report.waiting());
                fields.writeNumberField("problems", report.problems());
            });
            return;
        }
        output.line((dryRun ? "would remove " : "removed ") + Figures.count(report.generations(), "generation") + ", "
                + Figures.count(report.leftovers(), "leftover") + " and "
                + Figures.count(report.forgotten(), "deleted document") + ", " + Figures.size(report.bytes()) + ", of "
                + Figures.count(report.documents(), "document"));
        if (report.waiting() > 0) {
            output.line(
                    Figures.count(report.waiting(), "snapshot") + " that no manifest names may yet be committed by a"
                            + " server, and will be looked at again in a later run");
        }
    }
}
