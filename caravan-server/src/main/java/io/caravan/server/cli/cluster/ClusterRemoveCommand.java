package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Removes a node from a cluster. */
@Command(
        name = "remove",
        description = {
            "Removes a node that is lost, or was stopped some seconds ago; one that still answers is refused. Ask the node"
                    + " that leads. With the files that it has the removed node cannot come back: if it is started again it"
                    + " says so, and stops. Refused when the nodes that remain have no majority that can be reached.",
            "Needs the permission admin."
        },
        footer = {"  caravan cluster remove c --server 127.0.0.1:6381"})
final class ClusterRemoveCommand extends MembershipCommand {
    @Parameters(paramLabel = "NODE", description = "The node that is to go.")
    private String host;

    @Override
    protected void run(Output output) throws IOException {
        change(
                output,
                "removes node " + host + "; it cannot come back with its files",
                -1,
                null,
                Stream.of("REMOVE", host));
    }
}
