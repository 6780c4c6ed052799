package io.caravan.server.cli.archive;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Verification;
import io.caravan.server.archive.Verification.VerificationListener;
import io.caravan.server.archive.Verification.VerificationReport;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "archive",
        description = {
            "With NAME, a running server archives this document now, if it has changed since it was archived. The"
                    + " command prints the generation in the archive and its sequences. A server also archives"
                    + " automatically, see 'caravan serve --help'.",
            "The subcommands need no server: they list an archive, verify it, and remove old data from it. If a"
                    + " document has the name of a subcommand, write -- before the name."
        },
        subcommands = {ArchiveListCommand.class, ArchiveCommand.Verify.class, ArchivePruneCommand.class},
        footer = {"  caravan archive letters/1", "  caravan archive letters/1 --json"})
public final class ArchiveCommand extends ClientCommand {
    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            arity = "0..1",
            description = "The document, for a running server to archive.")
    private @Nullable String name;

    @Override
    protected void run(Output output) throws IOException {
        String wanted = given(name, "give NAME for a running server to archive, or a subcommand: ls, verify or prune");
        try (ServerConnection connection = connect()) {
            Map<String, ?> archived = connection.callLongRunning("CARAVAN.ARCHIVE", wanted);
            archived.keySet().retainAll(List.of("generation", "first", "next", "uploaded"));
            String line = "generation " + archived.get("generation") + ", first " + archived.get("first") + ", next "
                    + archived.get("next")
                    + (Boolean.TRUE.equals(archived.get("uploaded")) ? "" : ", unchanged");
            output.print(line, archived);
        }
    }

    /** The base class of the subcommands of {@code archive}. */
    abstract static class Subcommand extends CliCommand {
        @Mixin
        private ArchivePlace place;

        @Mixin
        private Format format;

        @Override
        protected final void run(Output output) throws IOException {
            jobs();
            checkOptions();
            try (ObjectStore objects = place.open()) {
                run(Archive.open(objects), output);
                output.flush();
            }
        }

        /** Checks the command's own options before anything is opened. */
        void checkOptions() {}

        abstract void run(Archive archive, Output output) throws IOException;

        final int jobs() {
            return place.jobs();
        }
    }

    @Command(
            name = "verify",
            description = {
                "Reads every manifest of an archive, and every snapshot that a manifest names, and checks every byte."
                        + " Changes nothing, and may run while a server archives.",
                "Snapshots that no manifest names are not faults: they were put but not committed, for example because"
                        + " the server ended. 'caravan archive prune' removes them."
            },
            exitCodeList = {
                "0:clean",
                "1:faults, each on a line with the remedy; or no archive, or no permission",
                "2:usage error"
            },
            footer = {
                "  caravan archive verify --archive file:archive",
                "  caravan archive verify --archive s3://bucket/prefix --jobs 64"
            })
    static final class Verify extends Subcommand {

        @Override
        void run(Archive archive, Output output) throws IOException {
            VerificationReport report;
            try (Progress progress = countProgress("snapshots")) {
                report = Verification.verify(archive, jobs(), new VerificationListener() {
                    @Override
                    public void fault(String message) {
                        Output.unchecked(() ->
                                output.print("FAULT: " + DocumentName.printable(message), Map.of("fault", message)));
                    }

                    @Override
                    public void read(long snapshots, long bytes) {
                        progress.add(snapshots, bytes);
                    }
                });
            }
            output.print(describe(report, archive.objects().location()), report);
            exitWith(report.faults() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE);
        }

        private static String describe(VerificationReport report, String location) {
            return location
                    + (report.faults() == 0 ? " is clean: " : " has " + count(report.faults(), "fault") + ": ")
                    + count(report.documents(), "document") + ", " + report.deleted() + " of them deleted; "
                    + count(report.generations(), "snapshot") + " read, " + size(report.bytes())
                    + (report.leftovers() == 0
                            ? ""
                            : "\nno manifest names " + count(report.leftovers(), "snapshot") + ", "
                                    + size(report.leftoverBytes())
                                    + ": they are being archived now, or a server left them; 'caravan archive prune'"
                                    + " removes those")
                    + (report.unknown() == 0
                            ? ""
                            : "\nnot part of the archive, and ignored: " + count(report.unknown(), "object")
                                    + " under snapshots/");
        }
    }
}
