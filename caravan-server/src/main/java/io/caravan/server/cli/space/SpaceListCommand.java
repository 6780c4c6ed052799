package io.caravan.server.cli.space;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine.Command;

/** Lists the spaces. */
@Command(
        name = "ls",
        description = "Lists the spaces in the order of their prefixes. Each line has the number and the size of the"
                + " documents, the number of rejected writes since the server started, and the settings. Requires the"
                + " admin permission.",
        footer = {"  caravan space ls", "  caravan space ls --json"})
final class SpaceListCommand extends ClientCommand {
    private static final int SHORTEST = 6;
    private static final int LONGEST = 40;

    @Override
    protected boolean onlyReads() {
        return true;
    }

    @Override
    protected void run(Output output) throws IOException {
        List<SpaceFields> spaces;
        try (ServerConnection connection = connect()) {
            List<?> answer = (List<?>) Objects.requireNonNull(connection.call("CARAVAN.SPACE", "LIST"));
            spaces = answer.stream()
                    .map(space -> new SpaceFields(Objects.requireNonNullElse(ServerConnection.fields(space), Map.of())))
                    .toList();
        }
        if (json()) {
            for (SpaceFields space : spaces) {
                space.printJson(output);
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
