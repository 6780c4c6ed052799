package io.caravan.server.cli.space;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.CliCommand.VersionProvider;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Parameters;

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
            SpaceCommand.ListSpaces.class,
            SpaceCommand.Show.class,
            SpaceCommand.Remove.class,
            HelpCommand.class
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class SpaceCommand {

    @Command(
            name = "ls",
            description = "Lists the spaces in the order of their prefixes. Each line has the number and the size of"
                    + " the documents, the number of rejected writes since the server started, and the settings."
                    + " Requires the admin permission.",
            footer = {"  caravan space ls", "  caravan space ls --json"})
    static final class ListSpaces extends ClientCommand implements ReadOnly {
        private static final int SHORTEST = 6;
        private static final int LONGEST = 40;

        @Override
        protected void run(Output output) throws IOException {
            List<SpaceFields> spaces;
            try (ServerConnection connection = connect()) {
                List<?> reply = (List<?>) Objects.requireNonNull(connection.call("CARAVAN.SPACE", "LIST"));
                spaces = reply.stream()
                        .map(space ->
                                new SpaceFields(Objects.requireNonNullElse(ServerConnection.fields(space), Map.of())))
                        .toList();
            }
            if (json()) {
                for (SpaceFields space : spaces) {
                    output.object(space.fields());
                }
                return;
            }
            int width = spaces.stream()
                    .mapToInt(space -> space.prefix().length())
                    .reduce(SHORTEST, (one, other) -> Math.min(LONGEST, Math.max(one, other)));
            String row = "%-" + width + "s %10s %10s %9s  %s";
            output.line(String.format(Locale.ROOT, row, "prefix", "documents", "size", "rejected", "settings"));
            for (SpaceFields space : spaces) {
                output.line(String.format(
                        Locale.ROOT,
                        row,
                        space.prefix(),
                        space.figure("documents"),
                        Figures.size(space.figure("bytes")),
                        space.rejected(),
                        space.settings()));
            }
        }
    }

    @Command(
            name = "show",
            description = "Shows a space: its documents, its settings, and its rejected writes. Requires the admin"
                    + " permission.",
            exitCodeList = {
                "0:success",
                "1:failure: no server, no permission",
                "2:usage error",
                "3:there is no such space"
            },
            footer = {"  caravan space show chat/", "  caravan space show chat/ --json"})
    static final class Show extends ClientCommand implements ReadOnly {
        @Parameters(paramLabel = "PREFIX", description = "Prefix of the space.")
        private String prefix;

        @Override
        protected void run(Output output) throws IOException {
            try (ServerConnection connection = connect()) {
                Map<String, @Nullable Object> space =
                        ServerConnection.fields(connection.call("CARAVAN.SPACE", "GET", prefix));
                if (space == null) {
                    throw ClientException.otherState("there is no space '" + prefix + "'");
                }
                new SpaceFields(space).print(output, json());
            }
        }
    }

    @Command(
            name = "rm",
            description = "Removes a space, but none of its documents, to which the settings of the next shorter"
                    + " prefix then apply. In a cluster, applies to all Raft groups. Requires the admin permission.",
            exitCodeList = {
                "0:success",
                "1:failure: no server, no permission",
                "2:usage error",
                "3:there is no such space"
            },
            footer = {"  caravan space rm chat/", "  caravan space rm chat/ --json"})
    static final class Remove extends ClientCommand {
        @Parameters(paramLabel = "PREFIX", description = "Prefix of the space.")
        private String prefix;

        @Override
        protected void run(Output output) throws IOException {
            List<Boolean> removed = new ArrayList<>();
            inEachGroup(leader -> removed.add(Long.valueOf(1).equals(leader.call("CARAVAN.SPACE", "REMOVE", prefix))));
            if (!removed.contains(true)) {
                throw ClientException.otherState("there is no space '" + prefix + "'");
            }
            print(output, "space " + prefix + " is removed", Map.of("removed", prefix));
        }
    }
}
