package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Transfers leadership to another node. */
@Command(
        name = "transfer",
        description = {
            "Hands leadership to another node, as before the maintenance of this one. Ask the node that leads. The other"
                    + " node leads once it has every entry; what clients send meanwhile fails and has to be sent again, and"
                    + " all connections of both nodes end. A node that is stopped with SIGTERM does this by itself.",
            "Needs the permission admin."
        },
        footer = {"  caravan cluster transfer b --server 127.0.0.1:6381"})
final class ClusterTransferCommand extends ClientCommand {
    @Parameters(paramLabel = "NODE", description = "The node that shall lead.")
    private String host;

    @Override
    protected void run(Output output) throws IOException {
        try (ServerConnection connection = connect()) {
            ClusterCommand.requireCluster(connection.info());
            connection.ask("CARAVAN.CLUSTER", "TRANSFER", host);
        }
        print(output, "node " + host + " leads", fields -> fields.writeStringField("leader", host));
    }
}
