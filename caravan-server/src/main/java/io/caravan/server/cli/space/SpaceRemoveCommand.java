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
        description = {
            "Removes a space, and none of its documents: for them, the settings of the next shorter prefix count, if there"
                    + " are any. Needs the permission admin."
        },
        exitCodeList = {"0:success", "1:failed: no server, no permission", "2:usage error", "3:there is no such space"},
        footer = {"  caravan space rm chat/", "  caravan space rm chat/ --json"})
final class SpaceRemoveCommand extends ClientCommand {
    @Parameters(paramLabel = "PREFIX", description = "The space's prefix.")
    private String prefix;

    @Override
    protected void run(Output output) throws IOException {
        List<Boolean> removed = new ArrayList<>();
        inEachGroup(leader -> removed.add(Long.valueOf(1).equals(leader.ask("CARAVAN.SPACE", "REMOVE", prefix))));
        if (!removed.contains(true)) {
            throw ClientException.otherState("there is no space '" + prefix + "'");
        }
        print(output, "space " + prefix + " is removed", fields -> fields.writeStringField("removed", prefix));
    }
}
