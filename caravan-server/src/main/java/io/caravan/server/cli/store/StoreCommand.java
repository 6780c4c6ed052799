package io.caravan.server.cli.store;

import io.caravan.VerifyReport;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.common.VersionProvider;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What the commands for a store's directory share: text or JSON, progress after two seconds. */
@Command(
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        sortOptions = false,
        footerHeading = "%nExamples:%n")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
abstract class StoreCommand implements Callable<Integer> {
    /** The exit code when the store is damaged, or something of it did not come. */
    protected static final int DAMAGED = CommandLine.ExitCode.SOFTWARE;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(names = "--json", description = "Print one JSON object a line instead of text.")
    private boolean json;

    private volatile String step = "";

    /** Prints a result: a line of text, or an object. */
    protected final void print(String line, Output.Fields fields) {
        PrintWriter out = spec.commandLine().getOut();
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

    protected final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Shows how far the command is, every two seconds, until it is closed. */
    protected final Progress showProgress() {
        return Progress.ticking(err(), Console.system().showsProgress(), () -> step);
    }

    /** Notes how far the command is. */
    protected final VerifyReport.Progress noteProgress() {
        return (what, done, total) -> step = what + ": " + done + " of " + total;
    }
}
