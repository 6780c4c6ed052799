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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The base class of commands that change a cluster's members. */
abstract class MembershipCommand extends ClientCommand {
    private static final String HOST = "cluster_node_";

    /** A node that joins, as described by the cluster file with which it is started. */
    record Joining(ClusterNode host, SlotRange slots) {
        static Joining read(Path file, String id) throws IOException {
            try {
                ClusterFile cluster = ClusterFile.read(file);
                return new Joining(cluster.host(id), cluster.groupOf(id).slots());
            } catch (IllegalArgumentException missing) {
                throw new IOException(file + ": " + missing.getMessage(), missing);
            }
        }

        Stream<String> words() {
            return Stream.of(
                    host.id(),
                    host.peer().toString(),
                    host.resp().toString(),
                    host.http().toString());
        }

        /**
         * Checks that the new node belongs to the Raft group of this server, which would otherwise wait in vain for the
         * node. A server of an older version does not report slots, and is not checked.
         */
        void requireGroup(ServerInfo info) {
            String slots = info.text("cluster_slots");
            if (!slots.isEmpty() && !slots.equals(this.slots.toString())) {
                throw ClientException.failed("node " + host.id() + " has the slots " + this.slots
                        + ", and the group that was asked has " + slots + ": ask the node that leads its own group");
            }
        }

        @Override
        public String toString() {
            return "node " + host.id() + " (peer " + host.peer() + ", RESP " + host.resp() + ", HTTP " + host.http()
                    + ")";
        }
    }

    /**
     * Prints the planned change, applies it, and prints the resulting members.
     *
     * @param more the change in the number of members
     * @param joining the new node, or null
     */
    final void change(Output output, String what, int more, @Nullable Joining joining, Stream<String> words)
            throws IOException {
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            if (joining != null) {
                joining.requireGroup(info);
            }
            if (!json()) {
                int hosts = hosts(info) + more;
                output.line(what + "; " + hosts + " nodes survive the loss of " + Math.max(0, hosts - 1) / 2);
                output.flush();
            }
            Map<String, ?> answer = connection.askAtLeisure(
                    Stream.concat(Stream.of("CARAVAN.CLUSTER"), words).toArray(String[]::new));
            List<String> hosts = List.of(String.valueOf(answer.get("nodes")).split(","));
            print(output, "the cluster has the nodes " + String.join(", ", hosts), fields -> {
                fields.writeArrayFieldStart("nodes");
                for (String host : hosts) {
                    fields.writeString(host);
                }
                fields.writeEndArray();
            });
        }
    }

    private static int hosts(ServerInfo info) {
        return (int) info.sections().getOrDefault("cluster", Map.of()).keySet().stream()
                .filter(field -> field.startsWith(HOST))
                .count();
    }
}
