package io.caravan.server.cli.store;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.Shards;
import io.caravan.StoreLockedException;
import io.caravan.VerifyReport;
import io.caravan.cluster.GroupMember;
import io.caravan.io.FileStorage;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cluster.Cluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "verify",
        description = {
            "Verifies every checkpoint, log frame, and value of a store, and of all shards. Changes nothing.",
            "If a server has the store open, the command reads the current files, and reports only faults that it finds"
                    + " repeatedly. On a stopped cluster node, it does not report frames that were lost in a power"
                    + " failure if the node will replay them from the Raft log."
        },
        exitCodeList = {"0:the store is clean", "1:there are faults, or the store cannot be read", "2:usage error"},
        footer = {"  caravan verify letters", "  caravan verify letters --json"})
public final class VerifyCommand extends StoreCommand {
    @Mixin
    private Format format;

    @Override
    protected void run(Output output) throws IOException {
        for (Path store : Shards.directories(directory())) {
            if (!isClean(store, output)) {
                exitWith(DAMAGED);
            }
        }
        output.flush();
    }

    /** Whether a store, or a shard, is clean. Reports a problem instead of throwing it, for the other shards. */
    private boolean isClean(Path store, Output output) {
        try {
            return verify(store, output);
        } catch (CaravanException unreadable) {
            printMessage(String.valueOf(unreadable.getMessage()));
        } catch (IOException unreadable) {
            printMessage(FileStorage.problem(unreadable));
        }
        return false;
    }

    /** Verifies a store, or one shard of it, and returns whether it is clean. */
    private boolean verify(Path store, Output output) throws IOException {
        VerifyReport report;
        try (Progress progress = showNotedProgress()) {
            report = verify(store, noteProgress());
        }
        for (CaravanException fault : report.faults()) {
            String message = String.valueOf(fault.getMessage());
            printAnyway(output, "FAULT: " + message, Map.of("fault", message));
        }
        int faults = report.faults().size();
        printAnyway(
                output,
                store
                        + (report.clean() ? " is clean: " : " has " + Figures.count(faults, "fault") + ": ")
                        + report.checkpoints() + " checkpoints, " + report.frames() + " frames, " + report.lists()
                        + " lists, " + report.entries() + " entries, " + report.bytes() + " bytes of values read",
                Output.fields(
                        "directory", store.toString(),
                        "clean", report.clean(),
                        "faults", faults,
                        "checkpoints", report.checkpoints(),
                        "frames", report.frames(),
                        "lists", report.lists(),
                        "entries", report.entries(),
                        "bytes", report.bytes()));
        return report.clean();
    }

    private VerifyReport verify(Path store, VerifyReport.Progress progress) throws IOException {
        try {
            return GroupMember.verify(store, store.toAbsolutePath().resolveSibling(Cluster.RAFT_DIRECTORY), progress);
        } catch (StoreLockedException open) {
            err().println(store + " is open; reading it as it is");
            return DurableListStore.verifyWhileOpen(store, progress);
        }
    }
}
