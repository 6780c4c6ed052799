package io.caravan.server.cli.store;

import io.caravan.StoreIoException;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.LogReader;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.common.UntilSignal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints a store's log, and optionally follows it. */
@Command(
        name = "log",
        description = {
            "Prints the records of a store's log, one JSON object a line; with --follow also those to come, until Ctrl-C.",
            "The store may be open: nothing is locked or written. A record is printed when it has been written, a moment"
                    + " before it is durable. A line with \"type\":\"missed\" tells which LSNs were recycled unread, one"
                    + " with an \"error\" what is damaged. In a group of hosts all have the leader's LSNs."
        },
        footer = {
            "  caravan log letters",
            "  caravan log letters --follow --from 8192 --values",
            "  caravan log letters | grep '\"type\":\"delete\"'",
            "",
            "Exit code 0: printed, or ended by Ctrl-C; 1: damage, or it cannot be read; 2: wrong usage."
        })
public final class LogCommand extends DirectoryCommand {
    private static final long PAUSE_MILLIS = 100;

    private final CountDownLatch stopped = new CountDownLatch(1);

    @Parameters(paramLabel = "DIR", description = "The store's directory.")
    private Path directory;

    @Option(names = "--follow", description = "Go on with the records that are written from now on.")
    private boolean follow;

    @Option(
            names = "--from",
            paramLabel = "LSN",
            defaultValue = "0",
            description = "Begin with the first record at this position or behind it.")
    private long from;

    @Option(names = "--values", description = "Print values too, as text when they are UTF-8, else in Base64.")
    private boolean values;

    @Override
    protected boolean onlyReads() {
        return true;
    }

    @Override
    protected int execute(Output output) throws IOException {
        check(from >= 0, "--from must be 0 or more");
        StorePrinter printer = new StorePrinter(output, values);
        oneStore(directory);
        learnNames(printer);
        try (LogReader reader = LogReader.open(directory, from)) {
            if (follow) {
                UntilSignal.run(
                        "caravan-log-end",
                        stopped::countDown,
                        () -> follow(reader, printer, output),
                        () -> exitCode(printer));
            } else {
                printAll(reader, printer);
            }
        }
        return exitCode(printer);
    }

    private static int exitCode(StorePrinter printer) {
        return printer.faults() == 0 ? CommandLine.ExitCode.OK : DAMAGED;
    }

    /** Reads the document names. If the store changes too fast for this, only names of new documents are printed. */
    private void learnNames(StorePrinter printer) throws IOException {
        try {
            new CatalogVisitor(printer, null).read(ContentsReader.open(directory));
        } catch (StoreIoException changing) {
            err().println("only names of new documents are known: " + changing.getMessage());
        }
    }

    private void printAll(LogReader reader, StorePrinter printer) throws IOException {
        try (Progress progress = showProgress(() -> printer.lines() + " records")) {
            boolean more = true;
            while (more) {
                more = reader.next(printer);
            }
        }
    }

    private void follow(LogReader reader, StorePrinter printer, Output output) throws IOException {
        boolean stop = false;
        while (!stop) {
            boolean more = reader.next(printer);
            if (!more) {
                output.flush();
            }
            stop = UntilSignal.stopped(stopped, more ? 0 : PAUSE_MILLIS);
        }
        output.flush();
    }
}
