package io.caravan.server.cli.store;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.Shards;
import io.caravan.StoreLockedException;
import io.caravan.VerifyReport;
import io.caravan.cluster.GroupMember;
import io.caravan.server.cluster.Cluster;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Reads every byte of a store, open or closed, and reports its faults. */
@Command(
        name = "verify",
        description = {
            "Verifies a store: every checkpoint, log frame and value. Changes nothing.",
            "Of a store in groups, each group is verified.",
            "A store that a server has open is read as far as it is there; only what is found again and again is a fault.",
            "Of a host of a cluster, what a power cut has taken and the host hears again is no fault."
        },
        footer = {
            "  caravan verify letters",
            "  caravan verify letters --json",
            "",
            "Exit code 0: clean; 1: faults, or it cannot be read; 2: wrong usage."
        })
public final class VerifyCommand extends StoreCommand {
    @Parameters(paramLabel = "DIR", description = "The store's directory.")
    private Path directory;

    @Override
    int run() throws IOException {
        boolean clean = true;
        for (Path store : Shards.directories(directory)) {
            clean &= verify(store);
        }
        return clean ? CommandLine.ExitCode.OK : DAMAGED;
    }

    /** Verifies a store, or one shard of it, and returns whether it is clean. */
    private boolean verify(Path store) throws IOException {
        VerifyReport report = verify(store, new Progress(err()));
        for (CaravanException fault : report.faults()) {
            String message = String.valueOf(fault.getMessage());
            print("FAULT: " + message, json -> json.writeStringField("fault", message));
        }
        print(
                store
                        + (report.clean()
                                ? " is clean: "
                                : " has " + report.faults().size() + " faults: ")
                        + report.checkpoints() + " checkpoints, " + report.frames() + " frames, " + report.lists()
                        + " lists, " + report.entries() + " entries, " + report.bytes() + " bytes of values read",
                json -> {
                    json.writeStringField("directory", store.toString());
                    json.writeBooleanField("clean", report.clean());
                    json.writeNumberField("faults", report.faults().size());
                    json.writeNumberField("checkpoints", report.checkpoints());
                    json.writeNumberField("frames", report.frames());
                    json.writeNumberField("lists", report.lists());
                    json.writeNumberField("entries", report.entries());
                    json.writeNumberField("bytes", report.bytes());
                });
        return report.clean();
    }

    private VerifyReport verify(Path store, VerifyReport.Progress progress) throws IOException {
        try {
            return GroupMember.verify(store, store.toAbsolutePath().resolveSibling(Cluster.RAFT_FOLDER), progress);
        } catch (StoreLockedException open) {
            err().println(store + " is open; reading it as it is");
            return DurableListStore.verifyWhileOpen(store, progress);
        }
    }

    /** Prints a line when a step begins, and after each tenth of the step. */
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
