package io.caravan.server.cli.archive;

import io.caravan.server.cli.common.Console;
import picocli.CommandLine;

/** The commands about archives: those that ask a running server, and those that look into an archive themselves. */
public final class ArchiveCommands {

    private ArchiveCommands() {}

    /** Adds them to the whole command line. */
    public static CommandLine addTo(CommandLine caravan, Console console) {
        return caravan.addSubcommand(archive(console)).addSubcommand(new RestoreCommand(console));
    }

    /** {@code caravan archive} and the commands below it. */
    static CommandLine archive(Console console) {
        return new CommandLine(new ArchiveCommand(console))
                .addSubcommand(new ArchiveListCommand(console))
                .addSubcommand(new ArchiveVerifyCommand(console))
                .addSubcommand(new ArchivePruneCommand(console));
    }
}
