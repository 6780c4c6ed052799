package io.caravan.server.cli.migration;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Console;
import picocli.CommandLine;

/** The commands that transfer documents between servers and files. */
public final class TransferCommands {
    private TransferCommands() {}

    public static void addTo(CommandLine caravan, Console console) {
        CliCommand.add(
                caravan,
                console,
                new ExportCommand(console),
                new ImportCommand(console),
                new CopyCommand(console),
                new MoveCommand(console));
    }
}
