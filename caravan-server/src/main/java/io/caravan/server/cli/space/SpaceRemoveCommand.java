package io.caravan.server.cli.space;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Removes a space. */
@Command(
        name = "rm",
        description = "Removes a space, but none of its documents, to which the settings of the next shorter prefix"
                + " then apply. In a cluster, applies to all Raft groups. Requires the admin permission.",
        exitCodeList = {"0:success", "1:failure: no server, no permission", "2:usage error", "3:there is no such space"
        },
        footer = {"  caravan space rm chat/", "  caravan space rm chat/ --json"})
final class SpaceRemoveCommand extends ClientCommand {
    @Parameters(paramLabel = "PREFIX", description = "Prefix of the space.")
    private String prefix;

    @Override
    protected void run(Output output) throws IOException {
        List<Boolean> removed = new ArrayList<>();
        inEachGroup(leader -> removed.add(Long.valueOf(1).equals(leader.call("CARAVAN.SPACE", "REMOVE", prefix))));
        if (!removed.contains(true)) {
            throw ClientException.otherState("there is no space '" + prefix + "'");
        }
        print(output, "space " + prefix + " is removed", fields -> fields.writeStringField("removed", prefix));
    }
}
