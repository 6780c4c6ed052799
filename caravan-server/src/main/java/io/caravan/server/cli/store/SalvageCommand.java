package io.caravan.server.cli.store;

import io.caravan.DurableListStore;
import io.caravan.SalvageReport;
import io.caravan.VerifyReport;
import io.caravan.server.cli.common.Progress;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Copies the intact values out of a damaged store. */
@Command(
        name = "salvage",
        description = {
            "Makes a new store of everything that still checks in a damaged, closed one, and lists what does not come.",
            "Writes nothing to the damaged one."
        },
        footer = {
            "  caravan salvage letters salvaged",
            "  caravan salvage letters salvaged --json > losses.json",
            "",
            "Exit code 0: everything came; 1: it cannot be read or written; 2: wrong usage; 3: something did not come."
        })
public final class SalvageCommand extends StoreCommand {
    private static final int WITH_LOSSES = 3;

    @Parameters(index = "0", paramLabel = "DIR", description = "The damaged store's directory.")
    private Path directory;

    @Parameters(index = "1", paramLabel = "NEW", description = "A new or empty folder for the new store.")
    private Path target;

    @Override
    int run() {
        oneStore(directory);
        VerifyReport.Progress noted = noteProgress();
        SalvageReport report;
        try (Progress progress = showProgress()) {
            report = DurableListStore.salvage(directory, target, new SalvageReport.Listener() {
                @Override
                public void lost(SalvageReport.Loss loss) {
                    tell(loss);
                }

                @Override
                public void at(String step, long done, long total) {
                    noted.at(step, done, total);
                }
            });
        }
        print(
                target + " has " + report.lists() + " lists, " + report.entries() + " entries, " + report.bytes()
                        + " bytes of values; " + report.lostEntries() + " entries are known to be missing",
                json -> {
                    json.writeStringField("directory", target.toString());
                    json.writeNumberField("lists", report.lists());
                    json.writeNumberField("entries", report.entries());
                    json.writeNumberField("bytes", report.bytes());
                    json.writeNumberField("lostEntries", report.lostEntries());
                    json.writeNumberField("losses", report.losses());
                });
        return report.losses() == 0 ? CommandLine.ExitCode.OK : WITH_LOSSES;
    }

    private void tell(SalvageReport.Loss loss) {
        print("LOST: " + loss, json -> {
            if (loss.first() >= 0) {
                json.writeNumberField("id", loss.id());
                json.writeNumberField("first", loss.first());
                json.writeNumberField("last", loss.last());
            }
            json.writeStringField("reason", loss.reason());
        });
    }
}
