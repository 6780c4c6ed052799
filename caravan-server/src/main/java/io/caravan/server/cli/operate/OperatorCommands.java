package io.caravan.server.cli.operate;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.support.SupportCommand;
import java.util.List;
import picocli.CommandLine;

/** The commands for the operator of a running server. */
public final class OperatorCommands {
    private OperatorCommands() {}

    /** Adds these commands to a command line. */
    public static CommandLine addTo(CommandLine caravan, Console console) {
        all(console).forEach(caravan::addSubcommand);
        return caravan;
    }

    private static List<ClientCommand> all(Console console) {
        return List.of(
                new CheckCommand(console),
                new TopCommand(console),
                new SupportCommand(console),
                new BackupCommand(console));
    }
}
