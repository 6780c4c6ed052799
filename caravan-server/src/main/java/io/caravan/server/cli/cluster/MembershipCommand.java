package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The base class of commands that change a cluster's members. */
abstract class MembershipCommand extends ClientCommand {
    private static final String NODE = "cluster_node_";

    /** A node that joins, as described by the cluster file with which it is started. */
    record Joining(ClusterNode node, SlotRange slots) {
        static Joining read(Path file, String id) throws IOException {
            try {
                ClusterFile cluster = ClusterFile.read(file);
                return new Joining(cluster.host(id), cluster.groupOf(id).slots());
            } catch (IllegalArgumentException missing) {
                throw new IOException(file + ": " + missing.getMessage(), missing);
            }
        }

        List<String> words() {
            return List.of(
                    node.id(),
                    node.peer().toString(),
                    node.resp().toString(),
                    node.http().toString());
        }

        /**
         * Checks that the new node belongs to the Raft group of this server, which would otherwise wait in vain for the
         * node. A server of an older version does not report slots, and is not checked.
         */
        void requireGroup(ServerInfo info) {
            String slots = info.text("cluster_slots");
            if (!slots.isEmpty() && !slots.equals(this.slots.toString())) {
                throw ClientException.failed("node " + node.id() + " has the slots " + this.slots
                        + ", and the Raft group of this server has " + slots
                        + ": send the command to the leader of the node's group");
            }
        }

        @Override
        public String toString() {
            return "node " + node.id() + " (peer " + node.peer() + ", RESP " + node.resp() + ", HTTP " + node.http()
                    + ")";
        }
    }

    /**
     * Prints the planned change, applies it, and prints the resulting members.
     *
     * @param more the change in the number of members
     * @param joining the new node, or null
     */
    final void change(Output output, String what, int more, @Nullable Joining joining, List<?> words)
            throws IOException {
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            if (joining != null) {
                joining.requireGroup(info);
            }
            if (!json()) {
                int nodes = nodes(info) + more;
                output.line(what + "; " + nodes + " nodes survive the loss of " + Math.max(0, nodes - 1) / 2);
                output.flush();
            }
            Map<String, ?> reply = connection.callLongRunning("CARAVAN.HOSTS", words);
            String[] nodes = String.valueOf(reply.get("nodes")).split(",");
            print(output, "the cluster has the nodes " + String.join(", ", nodes), fields -> {
                fields.writeFieldName("nodes");
                fields.writeArray(nodes, 0, nodes.length);
            });
        }
    }

    private static int nodes(ServerInfo info) {
        return (int) info.sections().getOrDefault("cluster", Map.of()).keySet().stream()
                .filter(field -> field.startsWith(NODE))
                .count();
    }
}
