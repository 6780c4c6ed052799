package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.common.Console;
import java.util.List;
import picocli.CommandLine;

/** The commands that transfer documents between servers and files. */
public final class TransferCommands {
    private TransferCommands() {}

    public static CommandLine addTo(CommandLine caravan, Console console) {
        all(console).forEach(caravan::addSubcommand);
        return caravan;
    }

    private static List<ClientCommand> all(Console console) {
        return List.of(
                new ExportCommand(console),
                new ImportCommand(console),
                new CopyCommand(console),
                new MoveCommand(console));
    }
}
