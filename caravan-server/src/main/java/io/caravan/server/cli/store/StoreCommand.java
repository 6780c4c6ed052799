package io.caravan.server.cli.store;

import io.caravan.VerifyReport;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Option;

/** The base of commands whose result is a few lines of text or JSON; shows progress after two seconds. */
abstract class StoreCommand extends DirectoryCommand {
    @Option(names = "--json", description = "Print one JSON object a line instead of text.")
    private boolean json;

    private volatile String step = "";

    /** Prints a result: a line of text, or an object. */
    protected final void print(String line, Output.Fields fields) {
        PrintWriter out = out();
        out.println(json ? object(fields) : DocumentName.printable(line));
        out.flush();
    }

    private static String object(Output.Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Output.unchecked(() -> {
            try (Output output = new Output(bytes)) {
                output.object(fields);
            }
        });
        return bytes.toString(StandardCharsets.UTF_8).stripTrailing();
    }

    /** Shows the command's progress every two seconds until it is closed. */
    protected final Progress showProgress() {
        return showProgress(Console.system(), () -> step);
    }

    /** Returns a listener that records the command's progress. */
    protected final VerifyReport.Progress noteProgress() {
        return (what, done, total) -> step = what + ": " + done + " of " + total;
    }
}
