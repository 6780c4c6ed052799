package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.CliCommand.VersionProvider;
import io.caravan.server.cli.common.HelpCommand;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
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
            MembershipCommand.Add.class,
            MembershipCommand.Remove.class,
            MembershipCommand.Replace.class,
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
}
