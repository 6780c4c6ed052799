package io.caravan.server.cli.archive;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Verification;
import io.caravan.server.archive.Verification.VerificationListener;
import io.caravan.server.archive.Verification.VerificationReport;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;

@Command(
        name = "verify",
        description = {
            "Reads every manifest of an archive, and every snapshot that a manifest names, and checks every byte."
                    + " Changes nothing, and may run while a server archives.",
            "Snapshots that no manifest names are not faults: they were put but not committed, for example because the"
                    + " server ended. 'caravan archive prune' removes them."
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
final class ArchiveVerifyCommand extends ArchiveSubcommand {

    @Override
    int run(Archive archive, Output output) throws IOException {
        VerificationReport report;
        try (Progress progress = countProgress("snapshots")) {
            report = Verification.verify(archive, jobs(), new VerificationListener() {
                @Override
                public void fault(String message) {
                    Output.unchecked(() -> print(output, "FAULT: " + message, Map.of("fault", message)));
                }

                @Override
                public void read(long snapshots, long bytes) {
                    progress.add(snapshots, bytes);
                }
            });
        }
        print(report, archive.objects().location(), output);
        return report.faults() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private void print(VerificationReport report, String location, Output output) throws IOException {
        if (json()) {
            output.object(report);
            return;
        }
        output.line(location
                + (report.faults() == 0 ? " is clean: " : " has " + Figures.count(report.faults(), "fault") + ": ")
                + Figures.count(report.documents(), "document") + ", " + report.deleted() + " of them deleted; "
                + Figures.count(report.generations(), "snapshot") + " read, " + Figures.size(report.bytes()));
        if (report.leftovers() > 0) {
            output.line("no manifest names " + Figures.count(report.leftovers(), "snapshot") + ", "
                    + Figures.size(report.leftoverBytes())
                    + ": they are being archived now, or a server left them; 'caravan archive prune' removes those");
        }
        if (report.unknown() > 0) {
            output.line("not part of the archive, and ignored: " + Figures.count(report.unknown(), "object")
                    + " under snapshots/");
        }
    }
}
