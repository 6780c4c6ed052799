package io.caravan.server.cli.operate;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.support.SupportCommand;
import picocli.CommandLine;

/** The commands for the operator of a running server. */
public final class OperatorCommands {
    private OperatorCommands() {}

    public static void addTo(CommandLine caravan, Console console) {
        CliCommand.add(
                caravan,
                console,
                new CheckCommand(),
                new TopCommand(console),
                new SupportCommand(),
                new BackupCommand());
    }
}
