package io.caravan.server.cli;

import java.util.List;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;

/** The commands that speak to a running server, and the one that makes a shell complete them. */
public final class ClientCommands {
    /** The command that those about an archive are below. */
    public static final String ARCHIVE = "archive";

    private ClientCommands() {}

    /** Adds them to the whole command line. */
    public static CommandLine addTo(CommandLine caravan, Console console) {
        all(console).forEach(caravan::addSubcommand);
        return caravan.addSubcommand(new GenerateCompletion());
    }

    static List<ClientCommand> all(Console console) {
        return List.of(
                new AppendCommand(console),
                new GetCommand(console),
                new TailCommand(console),
                new TrimCommand(console),
                new RemoveCommand(console),
                new ListCommand(console),
                new StatCommand(console),
                new ArchiveCommand(console),
                new RestoreCommand(console));
    }
}
