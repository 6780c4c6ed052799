package io.caravan.server.cli.space;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Shows a space. */
@Command(
        name = "show",
        description = "Shows a space: its documents, its settings, and its rejected writes. Requires the admin"
                + " permission.",
        exitCodeList = {"0:success", "1:failure: no server, no permission", "2:usage error", "3:there is no such space"
        },
        footer = {"  caravan space show chat/", "  caravan space show chat/ --json"})
final class SpaceShowCommand extends ClientCommand {
    @Parameters(paramLabel = "PREFIX", description = "Prefix of the space.")
    private String prefix;

    @Override
    protected boolean onlyReads() {
        return true;
    }

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
