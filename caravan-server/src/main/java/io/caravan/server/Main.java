package io.caravan.server;

import io.caravan.CaravanException;
import io.caravan.server.cli.ClientCommands;
import io.caravan.server.cli.Console;
import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.ParameterException;

/** The command line. Exit codes: 0 done, 1 failed, 2 wrongly called, 3 not the expected document. */
@Command(
        name = "caravan",
        description = "A durable store of append-only lists, one per document.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.VersionProvider.class,
        subcommands = {ServeCommand.class, VerifyCommand.class, RepairCommand.class, HelpCommand.class})
public final class Main {

    private Main() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return ClientCommands.addTo(new CommandLine(new Main()), Console.system())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Main::correct)
                .setExecutionExceptionHandler(Main::explain);
    }

    private static int correct(ParameterException wrong, String[] args) {
        CommandLine command = wrong.getCommandLine();
        command.getErr()
                .println("caravan: " + wrong.getMessage() + " (see "
                        + command.getCommandSpec().qualifiedName() + " --help)");
        return CommandLine.ExitCode.USAGE;
    }

    /** Problems that a person can do something about take one line; others are ours, and keep their stack trace. */
    private static int explain(Exception problem, CommandLine commandLine, CommandLine.ParseResult result)
            throws Exception {
        if (problem instanceof CaravanException || problem instanceof IOException) {
            commandLine.getErr().println("caravan: " + problem.getMessage());
            return CommandLine.ExitCode.SOFTWARE;
        }
        throw problem;
    }

    /** Tells the release. */
    static final class VersionProvider implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"caravan " + Version.current()};
        }
    }
}
