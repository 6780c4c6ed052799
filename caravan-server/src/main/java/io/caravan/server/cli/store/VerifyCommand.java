package io.caravan.server.cli.store;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.StoreLockedException;
import io.caravan.VerifyReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Reads every byte of a closed store and says what is wrong with it. */
@Command(
        name = "verify",
        description = {
            "Verifies a store: every checkpoint, log frame and value. Changes nothing.",
            "A store that a server has open is read as far as it is there; only what is found again and again is a fault."
        },
        footer = {
            "  caravan verify letters",
            "  caravan verify letters --json",
            "",
            "Exit code 0: clean; 1: faults, or it cannot be read; 2: wrong usage."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class VerifyCommand extends StoreCommand {
    @Parameters(paramLabel = "DIR", description = "The store's directory.")
    private Path directory;

    @Override
    public Integer call() {
        VerifyReport report = verify(new Progress(err()));
        for (CaravanException fault : report.faults()) {
            String message = String.valueOf(fault.getMessage());
            print("FAULT: " + message, json -> json.writeStringField("fault", message));
        }
        print(
                directory
                        + (report.clean()
                                ? " is clean: "
                                : " has " + report.faults().size() + " faults: ")
                        + report.checkpoints() + " checkpoints, " + report.frames() + " frames, " + report.lists()
                        + " lists, " + report.entries() + " entries, " + report.bytes() + " bytes of values read",
                json -> {
                    json.writeStringField("directory", directory.toString());
                    json.writeBooleanField("clean", report.clean());
                    json.writeNumberField("faults", report.faults().size());
                    json.writeNumberField("checkpoints", report.checkpoints());
                    json.writeNumberField("frames", report.frames());
                    json.writeNumberField("lists", report.lists());
                    json.writeNumberField("entries", report.entries());
                    json.writeNumberField("bytes", report.bytes());
                });
        return report.clean() ? CommandLine.ExitCode.OK : DAMAGED;
    }

    private VerifyReport verify(VerifyReport.Progress progress) {
        try {
            return DurableListStore.verify(directory, progress);
        } catch (StoreLockedException open) {
            err().println(directory + " is open; reading it as it is");
            return DurableListStore.verifyWhileOpen(directory, progress);
        }
    }

    /** Prints a line when a step begins, and after each tenth of it. */
    private static final class Progress implements VerifyReport.Progress {
        private static final int PARTS = 10;

        private final PrintWriter err;
        private String lastStep = "";
        private long lastPart;

        Progress(PrintWriter err) {
            this.err = err;
        }

        @Override
        public void at(String step, long done, long total) {
            long part = total <= 0 ? PARTS : done * PARTS / total;
            if (step.equals(lastStep) && part == lastPart) {
                return;
            }
            lastStep = step;
            lastPart = part;
            err.println(step + ": " + done + " of " + total);
            err.flush();
        }
    }
}
