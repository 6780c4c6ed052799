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
            "Keeps leadership away from the node that is asked, as before its maintenance: if it leads, it hands leadership"
                    + " over, and all connections of both nodes end; if it is elected later, it does so again. It goes on"
                    + " following and voting. If no other node can lead, it leads all the same. --undo ends this, and so does"
                    + " a restart of the node.",
            "Needs the permission admin."
        },
        footer = {
            "  caravan cluster drain --server 127.0.0.1:6381",
            "  caravan cluster drain --undo --server 127.0.0.1:6381"
        })
final class ClusterDrainCommand extends ClientCommand {
    @Option(names = "--undo", description = "The node may lead again.")
    private boolean undo;

    @Override
    protected void run(Output output) throws IOException {
        String host;
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            host = info.text("cluster_node");
            connection.ask("CARAVAN.CLUSTER", "DRAIN", undo ? "OFF" : "ON");
        }
        print(output, "node " + host + (undo ? " may lead again" : " is drained: it does not lead"), fields -> {
            fields.writeStringField("node", host);
            fields.writeBooleanField("drained", !undo);
        });
    }
}
