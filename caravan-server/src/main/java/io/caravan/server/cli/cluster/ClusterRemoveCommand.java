package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Removes a node from a cluster. */
@Command(
        name = "remove",
        description = {
            "Removes a node that is lost, or that was stopped some seconds ago. Send this command to the leader. A"
                    + " node that still responds cannot be removed. If too few of the remaining nodes can be reached"
                    + " to form a quorum, the command is rejected.",
            "The removed node cannot return with its files: if it is started again, it reports its removal and"
                    + " stops. Requires the admin permission."
        },
        footer = {"  caravan cluster remove c --server 127.0.0.1:6381"})
final class ClusterRemoveCommand extends MembershipCommand {
    @Parameters(paramLabel = "NODE", description = "Id of the node to remove.")
    private String node;

    @Override
    protected void run(Output output) throws IOException {
        change(
                output,
                "removes node " + node + "; it cannot come back with its files",
                -1,
                null,
                List.of("REMOVE", node));
    }
}
