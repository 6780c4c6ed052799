package io.caravan.server.cli.client;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Console;
import picocli.CommandLine;

/** The commands for the documents of a running server. */
public final class ClientCommands {
    private ClientCommands() {}

    public static void addTo(CommandLine caravan, Console console) {
        CliCommand.add(
                caravan,
                console,
                new AppendCommand(),
                new GetCommand(),
                new TailCommand(),
                new TrimCommand(),
                new RemoveCommand(),
                new ListCommand(),
                new StatCommand(console));
    }
}
