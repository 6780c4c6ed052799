package io.caravan.server.archive.command;

import io.caravan.server.cli.Console;
import picocli.CommandLine;

/** The commands that look into an archive. */
public final class ArchiveCommands {

    private ArchiveCommands() {}

    /** Adds them below the command {@code archive}, which they are returned with. */
    public static CommandLine addTo(CommandLine archive, Console console) {
        return archive.addSubcommand(new ArchiveListCommand(console))
                .addSubcommand(new ArchiveVerifyCommand(console))
                .addSubcommand(new ArchivePruneCommand(console));
    }
}
