package io.caravan.server.cli.space;

import io.caravan.server.cli.common.VersionProvider;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

/** The commands for spaces. */
@Command(
        name = "space",
        description = {
            "Settings for all documents whose names start with a prefix: maximum sizes, retention, quotas, rates,"
                    + " durability, and archive. A change applies to the next write. The store keeps the settings.",
            "If a name starts with several prefixes, only the settings of the longest one apply. 'caravan help space"
                    + " set' lists the settings."
        },
        subcommands = {
            SpaceSetCommand.class,
            SpaceListCommand.class,
            SpaceShowCommand.class,
            SpaceRemoveCommand.class,
            HelpCommand.class
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class SpaceCommand {}
