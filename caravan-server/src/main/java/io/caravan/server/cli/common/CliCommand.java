package io.caravan.server.cli.common;

import io.caravan.catalog.DocumentName;
import io.caravan.server.config.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The base class of all commands. Commands print results as text or JSON to an {@link Output}. They report failures as
 * exceptions, which the command line prints and converts to an exit code.
 */
@Command(
        mixinStandardHelpOptions = true,
        versionProvider = CliCommand.VersionProvider.class,
        showDefaultValues = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        footerHeading = "%nExamples:%n")
public abstract class CliCommand implements Callable<Integer> {
    /** The exit code for a result or a state that the user may not expect; the commands describe it in their help. */
    protected static final int UNEXPECTED = 3;

    private static final int LAST_OUTPUT_SECONDS = 2;

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("NullAway.Init") // set before the command runs
    private Console console;

    private int exitCode = CommandLine.ExitCode.OK;

    /** The option for the format of results. A mixin for commands that print text or JSON. */
    public static final class Format {
        /** The position of this option in the help text: after a command's own options. */
        public static final int ORDER = 9;

        @Option(names = "--json", order = ORDER, description = "Print the results as JSON, one object on each line.")
        private boolean json;
    }

    /** Sets the console of a command and of its subcommands. */
    public static void setConsole(CommandLine command, Console console) {
        if (command.getCommandSpec().userObject() instanceof CliCommand cli) {
            cli.console = console;
        }
        command.getSubcommands().values().forEach(each -> setConsole(each, console));
    }

    @Override
    public final Integer call() throws IOException {
        boolean done = false;
        try (Output output = new Output(console.out(), json())) {
            run(output);
            done = true;
        } catch (Output.ClosedException closed) {
            return done ? exitCode : closedEarly();
        } catch (UncheckedIOException failed) {
            if (failed.getCause() instanceof Output.ClosedException) {
                return closedEarly();
            }
            throw failed.getCause();
        }
        return exitCode;
    }

    /** Returns the exit code to use if the output was closed before the command ended. */
    private int closedEarly() {
        if (onlyReads()) {
            return CommandLine.ExitCode.OK;
        }
        printMessage("the output was closed before the command was done");
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Marks commands that only print results. They succeed even if the reader closes the output early. */
    public interface ReadOnly {}

    /** Whether the command, with its options, only prints results. */
    protected boolean onlyReads() {
        return this instanceof ReadOnly;
    }

    /** Runs the command. May report an output error as an unchecked exception. */
    protected abstract void run(Output output) throws IOException;

    /** Sets the exit code to use if {@link #run} does not throw an exception. */
    protected final void exitWith(int code) {
        exitCode = code;
    }

    protected final boolean json() {
        return spec.mixins().values().stream()
                .map(CommandSpec::userObject)
                .anyMatch(mixin -> mixin instanceof Format format && format.json);
    }

    /**
     * Runs work that stops cleanly on Ctrl-C or SIGTERM: the output is completed, and the process exits with the exit
     * code of this command, if the work has ended without an exception. If the work does not end in time, the exit code
     * is 0 if the command only reads.
     *
     * @param stop ends the work soon; called on another thread
     */
    protected final void runUntilSignal(Runnable stop, Output.Writing work) throws IOException {
        CountDownLatch done = new CountDownLatch(1);
        AtomicInteger code = new AtomicInteger(onlyReads() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE);
        Thread hook = new Thread(() -> endProcess(stop, done, code), "caravan-" + spec.name() + "-end");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            work.write();
            code.set(exitCode);
        } finally {
            done.countDown();
            removeHook(hook);
        }
    }

    /**
     * Waits at most this long for the latch that stops the work. Returns whether the latch is open. An interrupt opens
     * the latch.
     */
    public static boolean stopped(CountDownLatch stop, long waitMillis) {
        try {
            return stop.await(waitMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            stop.countDown();
            return true;
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // The signal arrived at this moment; the hook ends the process.
        }
    }

    private static void endProcess(Runnable stop, CountDownLatch done, AtomicInteger code) {
        stop.run();
        try {
            done.await(LAST_OUTPUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(code.get());
    }

    /** Shows the number of processed items on a terminal until the returned object is closed. */
    protected final Progress countProgress(String unit) {
        return Progress.counting(err(), console.showsProgress(), unit);
    }

    /** Shows the command's progress every two seconds until the returned object is closed. */
    protected final Progress showProgress(Supplier<String> line) {
        return Progress.ticking(err(), console.showsProgress(), line);
    }

    /** Prints a line at once, from any thread, while the command continues. */
    protected final synchronized void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }

    protected final void printMessage(String message) {
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

    /**
     * Returns the value of a numeric option after checking its minimum, or {@code otherwise} if the option is absent.
     */
    protected final long atLeast(long least, @Nullable Long given, String option, long otherwise) {
        check(given == null || given >= least, option + " must be at least " + least);
        return given == null ? otherwise : given;
    }

    /** Accepts only valid document names. */
    public static final class NameConverter implements CommandLine.ITypeConverter<String> {
        @Override
        public String convert(String name) {
            try {
                DocumentName.of(name);
                return name;
            } catch (IllegalArgumentException invalid) {
                throw new CommandLine.TypeConversionException(String.valueOf(invalid.getMessage()));
            }
        }
    }

    /** Provides the output of {@code --version}. */
    public static final class VersionProvider implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"caravan " + Version.current()};
        }
    }
}
