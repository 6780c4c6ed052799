package io.caravan.server.cli.store;

import io.caravan.Shards;
import io.caravan.VerifyReport;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

/** The base class of commands that work on a store's directory. */
abstract class StoreCommand extends CliCommand {
    /** The exit code if the store is damaged. */
    static final int DAMAGED = CommandLine.ExitCode.SOFTWARE;

    @Parameters(index = "0", paramLabel = "DIR", description = "Directory of the store.")
    private Path directory;

    private volatile String step = "";

    final Path directory() {
        return directory;
    }

    /** Returns the directory after checking that it contains one store, not several shards. */
    final Path oneStore() {
        List<Path> shards = Shards.directories(directory);
        check(
                shards.size() == 1,
                directory + " has " + shards.size()
                        + " shards, each of which is a store: name the directory of one shard, such as "
                        + shards.get(0));
        return directory;
    }

    /**
     * Prints a result. The work continues if this fails, so that no store is left incomplete; at the end, the output
     * fails again, and so does the command.
     */
    final void printAnyway(Output output, String line, Object fields) {
        try {
            output.print(DocumentName.printable(line), fields);
            output.flush();
        } catch (IOException unwritten) {
            // The output fails again when it is closed.
        }
    }

    /** Shows the progress that {@link #noteProgress} records. */
    final Progress showNotedProgress() {
        return showProgress(() -> step);
    }

    /** Returns a listener that records the command's progress. */
    final VerifyReport.Progress noteProgress() {
        return (what, done, total) -> step = what + ": " + done + " of " + total;
    }
}
