package io.caravan.server.cli.store;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.server.cli.common.VersionProvider;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Reads every byte of a closed store and says what is wrong with it. */
@Command(
        name = "verify",
        description = "Verifies a closed store: every checkpoint, log frame and value. Changes nothing.",
        footer = "Exit code 0: clean; 1: faults, or it cannot be read; 2: wrong usage.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class VerifyCommand implements Callable<Integer> {
    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(paramLabel = "DIR", description = "The store's directory.")
    private Path directory;

    @Override
    public Integer call() {
        VerifyReport report = DurableListStore.verify(
                directory, new Progress(spec.commandLine().getErr()));
        PrintWriter out = spec.commandLine().getOut();
        for (CaravanException fault : report.faults()) {
            out.println("FAULT: " + fault.getMessage());
        }
        out.println(directory
                + (report.clean() ? " is clean: " : " has " + report.faults().size() + " faults: ")
                + report.checkpoints() + " checkpoints, " + report.frames() + " frames, " + report.lists() + " lists, "
                + report.entries() + " entries, " + report.bytes() + " bytes of values read");
        return report.clean() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
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
