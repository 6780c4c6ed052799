package io.caravan.server.cli.store;

import io.caravan.VerifyReport;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import picocli.CommandLine.Option;

/** The base class of commands that print a few lines of text or JSON, and show their progress after two seconds. */
abstract class StoreCommand extends DirectoryCommand {
    @Option(names = "--json", description = "Print one JSON object a line instead of text.")
    private boolean json;

    private volatile String step = "";

    @SuppressWarnings("NullAway.Init") // set before the command runs
    private Output output;

    @Override
    protected final int execute(Output to) throws IOException {
        output = to;
        int exitCode = run();
        output.flush();
        return exitCode;
    }

    abstract int run() throws IOException;

    @Override
    protected final boolean json() {
        return json;
    }

    /**
     * Prints a result. If this fails, the work continues, so that no store is left incomplete, but the command fails at
     * the end.
     */
    protected final void print(String line, Output.Fields fields) {
        try {
            print(output, DocumentName.printable(line), fields);
            output.flush();
        } catch (IOException unwritten) {
            // The flush at the end throws the exception again.
        }
    }

    /** Shows the command's progress every two seconds until the returned object is closed. */
    protected final Progress showProgress() {
        return showProgress(() -> step);
    }

    /** Returns a listener that records the command's progress. */
    protected final VerifyReport.Progress noteProgress() {
        return (what, done, total) -> step = what + ": " + done + " of " + total;
    }
}
