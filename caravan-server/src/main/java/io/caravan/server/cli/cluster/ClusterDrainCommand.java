package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prevents a node from being the leader. */
@Command(
        name = "drain",
        description = {
            "Prevents the queried node from leading, for example before maintenance. If the node is the leader, it"
                    + " transfers leadership, and both nodes close all connections. The node continues to follow and"
                    + " to vote. If no other node can lead, it leads anyway.",
            "A restart of the node ends the drain. Requires the admin permission."
        },
        footer = {
            "  caravan cluster drain --server 127.0.0.1:6381",
            "  caravan cluster drain --undo --server 127.0.0.1:6381"
        })
final class ClusterDrainCommand extends ClientCommand {
    @Option(names = "--undo", description = "End the drain, so that the node may lead again.")
    private boolean undo;

    @Override
    protected void run(Output output) throws IOException {
        String node;
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            node = info.text("cluster_node");
            connection.call("CARAVAN.DRAIN", undo ? "OFF" : "ON");
        }
        print(output, "node " + node + (undo ? " may lead again" : " is drained: it does not lead"), fields -> {
            fields.writeStringField("node", node);
            fields.writeBooleanField("drained", !undo);
        });
    }
}
