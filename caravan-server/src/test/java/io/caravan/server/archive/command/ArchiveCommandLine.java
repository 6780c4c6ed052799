package io.caravan.server.archive.command;

import io.caravan.server.cli.Console;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The commands that look into an archive, below one that does nothing by itself. */
final class ArchiveCommandLine {

    private ArchiveCommandLine() {}

    static CommandLine of(Console console) {
        return ArchiveCommands.addTo(new CommandLine(CommandSpec.create().name("archive")), console);
    }
}
