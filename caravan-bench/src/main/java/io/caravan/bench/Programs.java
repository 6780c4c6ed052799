package io.caravan.bench;

import java.io.IOException;
import picocli.CommandLine;

/** Runs this module's programs with only warnings logged, and reports I/O failures in one line. */
public final class Programs {
    private static final String LOG_CONFIGURATION = "logback.configurationFile";

    private Programs() {}

    /** Runs a picocli command and returns its exit status. Must be called before anything is logged. */
    public static int run(Object command, String... arguments) {
        return line(command).execute(arguments);
    }

    /** Runs a picocli command whose last arguments are another command with its own options; see {@link #run}. */
    public static int runWithCommand(Object command, String... arguments) {
        return line(command).setStopAtPositional(true).execute(arguments);
    }

    private static CommandLine line(Object command) {
        if (System.getProperty(LOG_CONFIGURATION) == null) {
            System.setProperty(LOG_CONFIGURATION, "logback-warnings.xml");
        }
        return new CommandLine(command)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(Programs::handle);
    }

    /**
     * Reports an I/O failure to the user in one line. Rethrows any other exception: it is a bug, so its stack trace is
     * printed.
     */
    private static int handle(Exception problem, CommandLine command, CommandLine.ParseResult parsed) throws Exception {
        if (!(problem instanceof IOException)) {
            throw problem;
        }
        String cause = problem.getCause() == null ? "" : ": " + problem.getCause();
        command.getErr().println(command.getCommandName() + ": " + problem.getMessage() + cause);
        return command.getCommandSpec().exitCodeOnExecutionException();
    }
}
