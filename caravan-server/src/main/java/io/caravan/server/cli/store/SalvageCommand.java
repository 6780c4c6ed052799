package io.caravan.server.cli.store;

import io.caravan.DurableListStore;
import io.caravan.SalvageReport;
import io.caravan.VerifyReport;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "salvage",
        description =
                "Copies every intact value of a damaged, closed store into a new store, and lists all losses. Writes"
                        + " nothing to the damaged store.",
        exitCodeList = {
            "0:everything was copied",
            "1:the store cannot be read or written",
            "2:usage error",
            "3:something was lost"
        },
        footer = {"  caravan salvage letters salvaged", "  caravan salvage letters salvaged --json > losses.json"})
public final class SalvageCommand extends StoreCommand {
    @Parameters(
            index = "1",
            paramLabel = "NEW",
            description = "Directory of the new store, which must be empty or must not exist.")
    private Path target;

    @Mixin
    private Format format;

    @Override
    protected void run(Output output) throws IOException {
        Path directory = oneStore();
        VerifyReport.Progress noted = noteProgress();
        SalvageReport report;
        try (Progress progress = showNotedProgress()) {
            report = DurableListStore.salvage(directory, target, new SalvageReport.Listener() {
                @Override
                public void lost(SalvageReport.Loss loss) {
                    printAnyway(output, "LOST: " + loss, loss);
                }

                @Override
                public void at(String step, long done, long total) {
                    noted.at(step, done, total);
                }
            });
        }
        printAnyway(
                output,
                target + " has " + report.lists() + " lists, " + report.entries() + " entries, " + report.bytes()
                        + " bytes of values; " + report.lostEntries() + " entries are known to be missing",
                Output.fields("directory", target.toString(), report));
        output.flush();
        exitWith(report.losses() == 0 ? CommandLine.ExitCode.OK : UNEXPECTED);
    }
}
