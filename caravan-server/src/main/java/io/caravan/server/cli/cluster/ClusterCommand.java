package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.CliCommand.VersionProvider;
import io.caravan.server.cli.common.HelpCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "cluster",
        description = {
            "Several nodes that keep the same documents. The leader orders the writes, and acknowledges a write when"
                    + " a majority has it on disk. If the leader is lost, another node takes over with every"
                    + " acknowledged write. 'caravan cluster demo' starts three nodes on this machine.",
            "A node is started with 'caravan serve --cluster-file FILE --cluster-node ID'."
        },
        subcommands = {
            ClusterDemoCommand.class,
            ClusterCommand.Status.class,
            ClusterCommand.Transfer.class,
            ClusterCommand.Drain.class,
            ClusterCommand.Add.class,
            ClusterCommand.Remove.class,
            ClusterCommand.Replace.class,
            HelpCommand.class
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class ClusterCommand {
    /** Throws {@link ClientException} if the server with these statistics is not a node of a cluster. */
    static void requireCluster(ServerInfo info) {
        if (!"1".equals(info.text("cluster_enabled"))) {
            throw ClientException.failed("this server is not a node of a cluster");
        }
    }

    @Command(
            name = "status",
            description = {
                "Shows the cluster as one node sees it. Query the leader, because it has the most information: the role,"
                        + " the addresses, and the committed entries of each node, how long ago the node last responded,"
                        + " and the progress of a snapshot. For other Raft groups, shows their leaders.",
                "As JSON, the status is an object with the cluster_... fields of INFO. Changes nothing."
            },
            footer = {
                "  caravan cluster status --server 127.0.0.1:6381",
                "  caravan cluster status --server db2.example:6380 --json"
            })
    static final class Status extends ClientCommand implements ReadOnly {
        @Override
        protected void run(Output output) throws IOException {
            try (ServerConnection connection = connect()) {
                ServerInfo info = connection.info();
                ClusterCommand.requireCluster(info);
                if (json()) {
                    Map<String, String> shown =
                            new LinkedHashMap<>(info.sections().getOrDefault("cluster", Map.of()));
                    shown.keySet().removeIf(name -> !name.startsWith("cluster_"));
                    output.object(shown);
                    return;
                }
                String leader = info.text("cluster_leader");
                output.line("node " + info.text("cluster_node") + " of cluster " + info.text("cluster_id") + ", slots "
                        + info.text("cluster_slots") + ", "
                        + info.text("cluster_role") + ("1".equals(info.text("cluster_drained")) ? ", drained" : "")
                        + "; "
                        + (leader.isEmpty() ? "NO LEADER" : "node " + leader + " leads") + " since "
                        + info.text("cluster_since_seconds") + " s, term " + info.text("cluster_term"));
                String change = info.text("cluster_change");
                if (!change.isEmpty()) {
                    output.line(change);
                }
                output.line(String.format(
                        Locale.ROOT,
                        "%-8s %-9s %-22s %-22s %12s %8s",
                        "node",
                        "role",
                        "RESP",
                        "HTTP",
                        "entries",
                        "contact"));
                for (Map.Entry<String, Map<String, String>> node :
                        info.ofCluster(ServerInfo.NODES).entrySet()) {
                    node(output, node.getKey(), node.getValue());
                }
                for (Map.Entry<String, Map<String, String>> group :
                        info.ofCluster(ServerInfo.SLOTS).entrySet()) {
                    if (!group.getKey().equals(info.text("cluster_slots"))) {
                        otherGroup(output, group.getKey(), group.getValue());
                    }
                }
            }
        }

        private static void otherGroup(Output output, String slots, Map<String, String> fields) throws IOException {
            String leader = fields.getOrDefault("leader", "");
            output.line("slots " + slots + ": "
                    + (leader.isEmpty()
                            ? "NO LEADER"
                            : "node " + leader + " leads, RESP " + fields.get("resp") + ", HTTP " + fields.get("http"))
                    + ", since " + fields.get("since_seconds") + " s, of the nodes "
                    + fields.getOrDefault("nodes", "").replace("+", ", "));
        }

        private static void node(Output output, String id, Map<String, String> fields) throws IOException {
            String lastContact = fields.get("last_contact_ms");
            String files = fields.get("snapshot_bytes");
            output.line(String.format(
                    Locale.ROOT,
                    "%-8s %-9s %-22s %-22s %12s %8s%s",
                    id,
                    fields.get("role"),
                    fields.get("resp"),
                    fields.get("http"),
                    fields.getOrDefault("committed_entries", "?"),
                    lastContact == null ? "" : lastContact + " ms",
                    files == null
                            ? ""
                            : "  receives a snapshot, has " + files + " of " + fields.get("snapshot_total_bytes")
                                    + " bytes"));
        }
    }

    @Command(
            name = "transfer",
            description = {
                "Transfers leadership to another node, for example before maintenance of the leader. Send this"
                        + " command to the leader. The new leader takes over once it has every entry; requests fail"
                        + " until then, and must be sent again. Both nodes close all connections.",
                "If a leader is stopped with SIGTERM, it transfers leadership automatically. Requires the admin"
                        + " permission."
            },
            footer = {"  caravan cluster transfer b --server 127.0.0.1:6381"})
    static final class Transfer extends ClientCommand {
        @Parameters(paramLabel = "NODE", description = "Id of the new leader.")
        private String node;

        @Override
        protected void run(Output output) throws IOException {
            try (ServerConnection connection = connect()) {
                ClusterCommand.requireCluster(connection.info());
                connection.call("CARAVAN.CLUSTER", "TRANSFER", node);
            }
            output.print("node " + node + " leads", Map.of("leader", node));
        }
    }

    @Command(
            name = "drain",
            description = {
                "Prevents the queried node from leading, for example before maintenance. If the node is the leader,"
                        + " it transfers leadership, and both nodes close all connections. The node continues to"
                        + " follow and to vote. If no other node can lead, it leads anyway.",
                "A restart of the node ends the drain. Requires the admin permission."
            },
            footer = {
                "  caravan cluster drain --server 127.0.0.1:6381",
                "  caravan cluster drain --undo --server 127.0.0.1:6381"
            })
    static final class Drain extends ClientCommand {
        @Option(names = "--undo", description = "End the drain, so that the node may lead again.")
        private boolean undo;

        @Override
        protected void run(Output output) throws IOException {
            String node;
            try (ServerConnection connection = connect()) {
                ServerInfo info = connection.info();
                ClusterCommand.requireCluster(info);
                node = info.text("cluster_node");
                connection.call("CARAVAN.CLUSTER", "DRAIN", undo ? "OFF" : "ON");
            }
            String line = "node " + node + (undo ? " may lead again" : " is drained: it does not lead");
            output.print(line, Output.fields("node", node, "drained", !undo));
        }
    }

    private abstract static class Membership extends ClientCommand {
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
    }

    private abstract static class Joins extends Membership {
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
    static final class Remove extends Membership {
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
