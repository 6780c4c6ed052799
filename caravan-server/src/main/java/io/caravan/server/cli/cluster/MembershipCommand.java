package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The base class of commands that change a cluster's members. */
abstract class MembershipCommand extends ClientCommand {
    /**
     * Prints the planned change, which adds this number of members, applies it, and prints the resulting members.
     *
     * @param slots the slots of the group that a node joins, which must be those of this server; null if none joins
     */
    final void change(Output output, String what, int more, @Nullable String slots, Object... words)
            throws IOException {
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            String own = info.text("cluster_slots");
            if (slots != null && !own.isEmpty() && !own.equals(slots)) {
                throw ClientException.failed("the new node has the slots " + slots + ", and the Raft group of this"
                        + " server has " + own + ": send the command to the leader of the node's group");
            }
            if (!json()) {
                int nodes = info.ofCluster(ServerInfo.NODES).size() + more;
                output.line(what + "; " + nodes + " nodes survive the loss of " + Math.max(0, nodes - 1) / 2);
                output.flush();
            }
            Map<String, ?> reply = connection.callLongRunning("CARAVAN.CLUSTER", List.of(words));
            List<String> nodes = List.of(String.valueOf(reply.get("nodes")).split(","));
            output.print("the cluster has the nodes " + String.join(", ", nodes), Map.of("nodes", nodes));
        }
    }

    abstract static class Joins extends MembershipCommand {
        @Option(
                names = "--cluster-file",
                required = true,
                paramLabel = "FILE",
                description =
                        "Cluster file with which the new node was started. It contains the addresses of the node.")
        private Path file;

        /** Makes a change by which the node with this id in the cluster file becomes a member. */
        final void join(Output output, String what, String id, int more, String... words) throws IOException {
            ClusterNode node;
            String slots;
            try {
                ClusterFile cluster = ClusterFile.read(file);
                node = cluster.node(id);
                slots = cluster.groupOf(id).slots().toString();
            } catch (IllegalArgumentException missing) {
                throw new IOException(file + ": " + missing.getMessage(), missing);
            }
            List<String> addresses = List.of(
                    node.peer().toString(), node.resp().toString(), node.http().toString());
            change(
                    output,
                    what + " node " + id + " (peer " + node.peer() + ", RESP " + node.resp() + ", HTTP " + node.http()
                            + "), which receives all data first",
                    more,
                    slots,
                    List.of(words),
                    id,
                    addresses);
        }
    }

    @Command(
            name = "add",
            description = {
                "Adds a node that was started with 'caravan serve --cluster-join'. Send this command to the leader."
                        + " Prints the plan, waits until the node has all data and is a member, and prints the"
                        + " members. This takes as long as copying the store. If you stop the command, the change"
                        + " continues.",
                "If the addition fails, nothing has changed: add the node again. If another node becomes the leader,"
                        + " 'caravan cluster status' shows whether the node was added. Requires the admin permission."
            },
            footer = {"  caravan cluster add d --cluster-file cluster.properties --server 127.0.0.1:6381"})
    static final class Add extends Joins {
        @Parameters(paramLabel = "NODE", description = "Id of the new node.")
        private String node;

        @Override
        protected void run(Output output) throws IOException {
            join(output, "adds", node, 1, "ADD");
        }
    }

    @Command(
            name = "remove",
            description = {
                "Removes a node that is lost, or that was stopped some seconds ago. Send this command to the leader."
                        + " A node that still responds cannot be removed. If too few of the remaining nodes can be"
                        + " reached to form a quorum, the command is rejected.",
                "The removed node cannot return with its files: if it is started again, it reports its removal and"
                        + " stops. Requires the admin permission."
            },
            footer = {"  caravan cluster remove c --server 127.0.0.1:6381"})
    static final class Remove extends MembershipCommand {
        @Parameters(paramLabel = "NODE", description = "Id of the node to remove.")
        private String node;

        @Override
        protected void run(Output output) throws IOException {
            change(output, "removes node " + node + "; it cannot come back with its files", -1, null, "REMOVE", node);
        }
    }

    @Command(
            name = "replace",
            description = "Replaces a node that is lost, or that was stopped some seconds ago, with a new node in"
                    + " one step, so that the cluster never has fewer nodes than before. The rules and the output are"
                    + " those of 'cluster add' and 'cluster remove'. Requires the admin permission.",
            footer = {"  caravan cluster replace c d --cluster-file cluster.properties --server 127.0.0.1:6381"})
    static final class Replace extends Joins {
        @Parameters(index = "0", paramLabel = "OLD", description = "Id of the node to remove.")
        private String old;

        @Parameters(
                index = "1",
                paramLabel = "NEW",
                description = "Id of the new node, which no node may have had before.")
        private String node;

        @Override
        protected void run(Output output) throws IOException {
            join(
                    output,
                    "replaces node " + old + ", which cannot come back with its files, with",
                    node,
                    0,
                    "REPLACE",
                    old);
        }
    }
}
