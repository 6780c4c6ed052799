package io.caravan.server.cli.store;

import io.caravan.StoreIoException;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.LogReader;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "log",
        description = {
            "Prints the records of the log of a store, one JSON object on each line.",
            "The store may be open: the command takes no lock and writes nothing. A line of the type \"missed\" names"
                    + " LSNs whose segments were recycled before the command read them, and a line with \"error\" reports"
                    + " damage. In a cluster, a record has the same LSN on all nodes of a Raft group."
        },
        exitCodeList = {
            "0:the log was printed, or you pressed Ctrl-C",
            "1:the store is damaged or cannot be read",
            "2:usage error"
        },
        footer = {
            "  caravan log letters",
            "  caravan log letters --follow --from 8192 --values",
            "  caravan log letters | grep '\"type\":\"delete\"'"
        })
public final class LogCommand extends StoreCommand implements ReadOnly {
    private static final long PAUSE_MILLIS = 100;

    private final CountDownLatch stopped = new CountDownLatch(1);

    @Option(
            names = "--follow",
            description =
                    "Continue to print records as they are written, shortly before they are durable, until Ctrl-C.")
    private boolean follow;

    @Option(
            names = "--from",
            paramLabel = "LSN",
            defaultValue = "0",
            description = "Start with the first record at or after this position.")
    private long from;

    @Option(names = "--values", description = "Also print the values, as text, or in Base64 if they are not UTF-8.")
    private boolean values;

    @Override
    protected void run(Output output) throws IOException {
        check(from >= 0, "--from must be at least 0");
        StorePrinter printer = new StorePrinter(output, values);
        Path directory = oneStore();
        try {
            printer.readCatalog(ContentsReader.open(directory), entry -> {});
        } catch (StoreIoException changing) {
            err().println("only names of new documents are known: " + changing.getMessage());
        }
        try (LogReader reader = LogReader.open(directory, from);
                Progress progress = follow ? Progress.silent() : showProgress(() -> printer.lines() + " records")) {
            if (follow) {
                runUntilSignal(stopped::countDown, () -> print(reader, printer, output));
            } else {
                print(reader, printer, output);
            }
        }
    }

    private void print(LogReader reader, StorePrinter printer, Output output) throws IOException {
        boolean more = true;
        while ((more || follow) && !stopped(stopped, more ? 0 : PAUSE_MILLIS)) {
            more = reader.next(printer);
            if (!more) {
                output.flush();
            }
        }
        output.flush();
        exitWith(printer.exitCode());
    }
}
