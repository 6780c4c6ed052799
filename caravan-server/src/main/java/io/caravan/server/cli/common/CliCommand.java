package io.caravan.server.cli.common;

import io.caravan.catalog.DocumentName;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The base class of commands that print results. Commands report failures as exceptions, which the command line prints
 * and converts to an exit code.
 */
@Command(sortOptions = false, footerHeading = "%nExamples:%n")
public abstract class CliCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // set before the command runs
    private Console console;

    /** Adds commands to a command line, and sets the console that they use. */
    public static CommandLine add(CommandLine to, Console console, CliCommand... commands) {
        for (CliCommand command : commands) {
            to.addSubcommand(command.with(console));
        }
        return to;
    }

    public final CliCommand with(Console given) {
        console = given;
        return this;
    }

    @Override
    public final Integer call() throws IOException {
        Integer exitCode = null;
        try (Output output = new Output(console.out())) {
            exitCode = execute(output);
            return exitCode;
        } catch (Output.ClosedException enough) {
            return exitCode == null ? ended() : exitCode;
        } catch (UncheckedIOException failed) {
            if (failed.getCause() instanceof Output.ClosedException) {
                return ended();
            }
            throw failed.getCause();
        }
    }

    /** Returns the exit code if the output was closed before the command ended. */
    private int ended() {
        if (onlyReads()) {
            return CommandLine.ExitCode.OK;
        }
        tell("the output was closed before the command was done");
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Whether the command only prints, so that it succeeds even if the reader closes the output early. */
    protected boolean onlyReads() {
        return false;
    }

    /** Runs the command, and returns the exit code. May report an output error as an unchecked exception. */
    protected abstract int execute(Output output) throws IOException;

    protected boolean json() {
        return false;
    }

    /** Prints one result, as text or as a JSON object. */
    protected final void print(Output output, String line, Output.Fields fields) throws IOException {
        if (json()) {
            output.object(fields);
        } else {
            output.line(line);
        }
    }

    protected final void tell(String message) {
        PrintWriter err = err();
        err.println("caravan: " + DocumentName.printable(message));
        err.flush();
    }

    public final Console console() {
        return console;
    }

    protected final CommandSpec spec() {
        return spec;
    }

    protected final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Throws {@link ParameterException} unless a condition holds. */
    protected final void check(boolean holds, String otherwise) {
        if (!holds) {
            throw misused(otherwise);
        }
    }

    public final ParameterException misused(String why) {
        return new ParameterException(spec.commandLine(), why);
    }

    /** Returns a value, or throws {@link ParameterException} if it is null. */
    protected final <T> T given(@Nullable T value, String otherwise) {
        check(value != null, otherwise);
        return Objects.requireNonNull(value);
    }

    /** Returns an option's number after checking the minimum, or {@code otherwise} if the option is absent. */
    protected final long atLeast(long least, @Nullable Long given, String option, long otherwise) {
        check(given == null || given >= least, option + " must be " + least + " or more");
        return given == null ? otherwise : given;
    }
}
