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
            "Transfers leadership to another node, for example before maintenance of the leader. Send this command"
                    + " to the leader. The new leader takes over once it has every entry; requests fail until then,"
                    + " and must be sent again. Both nodes close all connections.",
            "If a leader is stopped with SIGTERM, it transfers leadership automatically. Requires the admin"
                    + " permission."
        },
        footer = {"  caravan cluster transfer b --server 127.0.0.1:6381"})
final class ClusterTransferCommand extends ClientCommand {
    @Parameters(paramLabel = "NODE", description = "Id of the new leader.")
    private String node;

    @Override
    protected void run(Output output) throws IOException {
        try (ServerConnection connection = connect()) {
            ClusterCommand.requireCluster(connection.info());
            connection.call("CARAVAN.TRANSFER", node);
        }
        print(output, "node " + node + " leads", fields -> fields.writeStringField("leader", node));
    }
}
