package io.caravan.server.cli.space;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.VersionProvider;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands for spaces. */
@Command(
        name = "space",
        description = {
            "Settings for all documents whose names begin with a prefix: how large they may be, what they retain, how much"
                    + " there may be of them together, how fast they may be written to. A change holds for the next write;"
                    + " the store keeps it.",
            "If a name begins with several prefixes, only the settings of the longest one count. 'caravan help space set'"
                    + " lists the settings."
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class SpaceCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    private SpaceCommand() {}

    public static CommandLine commands(Console console) {
        return CliCommand.add(
                        new CommandLine(new SpaceCommand()),
                        console,
                        new SpaceSetCommand(),
                        new SpaceListCommand(),
                        new SpaceShowCommand(),
                        new SpaceRemoveCommand())
                .addSubcommand(new CommandLine.HelpCommand());
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "say what to do with spaces: set, ls, show or rm");
    }
}
