package io.caravan.server.cli.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The base of the commands that inspect an archive. */
@Command(
        showDefaultValues = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        footerHeading = "%nExamples:%n")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
abstract class ArchiveSubcommand implements Callable<Integer> {
    private static final int LAST = ArchivePlace.ORDER + 1;
    private static final int MAX_JOBS = 256;

    private final Console console;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ArchivePlace place;

    @Option(
            names = "--jobs",
            order = LAST - 2,
            paramLabel = "N",
            defaultValue = "16",
            description = "How many documents at a time.")
    private int jobs;

    @Option(
            names = "--output",
            order = LAST - 2,
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How to print results: ${COMPLETION-CANDIDATES}; json is one object a line.")
    private Output.Format format;

    @Option(
            names = {"-h", "--help"},
            order = LAST,
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    ArchiveSubcommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        check(jobs >= 1 && jobs <= MAX_JOBS, "--jobs must be from 1 to " + MAX_JOBS);
        checkOptions();
        try (ObjectStore objects = place.open();
                Output output = new Output(console.out())) {
            return run(Archive.open(objects), output);
        } catch (Output.ClosedException closed) {
            return ended();
        } catch (UncheckedIOException unwritable) {
            if (unwritable.getCause() instanceof Output.ClosedException) {
                return ended();
            }
            throw unwritable.getCause();
        }
    }

    /** Returns the exit code after the reader of the output has closed it. */
    private int ended() {
        if (onlyLists()) {
            return CommandLine.ExitCode.OK;
        }
        tell("the output was closed before the command was done: call it again");
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Whether the command is complete when its output is closed. */
    boolean onlyLists() {
        return false;
    }

    /** Checks the command's own options before anything is opened. */
    void checkOptions() {}

    /** Runs the command, and returns the exit code. May report an output error as an unchecked exception. */
    abstract int run(Archive archive, Output output) throws IOException;

    final int jobs() {
        return jobs;
    }

    /** Prints one result, as text or as a JSON object. */
    final void print(Output output, String line, Output.Fields fields) throws IOException {
        if (json()) {
            output.object(fields);
        } else {
            output.line(line);
        }
    }

    final boolean json() {
        return format == Output.Format.JSON;
    }

    /** Creates a progress display on the error stream that counts in this unit. */
    final Progress progress(String unit) {
        return new Progress(spec.commandLine().getErr(), console.showsProgress(), unit);
    }

    /** Prints a message for people on the error stream. */
    final void tell(String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("caravan: " + DocumentName.printable(message));
        err.flush();
    }

    final void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
