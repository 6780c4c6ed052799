package io.caravan.server.cli.common;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the help text of a command at any level, such as {@code space set}. picocli's own class finds one level. */
@Command(
        name = "help",
        helpCommand = true,
        mixinStandardHelpOptions = true,
        versionProvider = CliCommand.VersionProvider.class,
        description = "Shows the help message of a command, as --help does.")
public final class HelpCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command, and its subcommand if it has any.")
    private List<String> words = List.of();

    @Override
    public void run() {
        CommandLine command = spec.parent().commandLine();
        for (String word : words) {
            CommandLine named = command.getSubcommands().get(word);
            if (named == null) {
                throw new ParameterException(command, "there is no command '" + word + "'");
            }
            command = named;
        }
        command.usage(command.getOut());
    }
}
