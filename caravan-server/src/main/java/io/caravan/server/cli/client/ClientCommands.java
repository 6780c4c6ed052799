package io.caravan.server.cli.client;

import io.caravan.server.cli.common.Console;
import java.util.List;
import picocli.CommandLine;

/** The commands for the documents of a running server. */
public final class ClientCommands {
    private ClientCommands() {}

    /** Adds these commands to a command line. */
    public static CommandLine addTo(CommandLine caravan, Console console) {
        all(console).forEach(caravan::addSubcommand);
        return caravan;
    }

    private static List<ClientCommand> all(Console console) {
        return List.of(
                new AppendCommand(console),
                new GetCommand(console),
                new TailCommand(console),
                new TrimCommand(console),
                new RemoveCommand(console),
                new ListCommand(console),
                new StatCommand(console));
    }
}
