package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Determines which node of a cluster runs a command: the leader of the Raft group that contains the command's
 * documents. The other nodes redirect clients to the leader, as in Redis's <a
 * href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">cluster specification</a>.
 */
public final class ClusterRouting {
    /** Command groups that concern only the connection or the node. Their commands run on every node. */
    private static final Set<String> OWN_GROUPS = Set.of("connection", "transactions", "pubsub");

    private static final Set<String> OWN = Set.of("INFO", "CONFIG", "MODULE", "COMMAND", "SLOWLOG", "CLUSTER", "ROLE");

    private final @Nullable Cluster cluster;

    /** Creates the routing. Without a cluster, every command runs on this server. */
    public ClusterRouting(@Nullable Cluster cluster) {
        this.cluster = cluster;
    }

    /** Returns an error, such as a redirect to the leader, if the command cannot run on this node; null otherwise. */
    public Reply.@Nullable Error reject(CommandSpec spec, Command command) {
        if (cluster == null) {
            return null;
        }
        List<byte[]> names = spec.keys().of(command);
        int slot = names.isEmpty() ? -1 : Slots.of(names.get(0));
        for (byte[] name : names) {
            if (Slots.of(name) != slot) {
                return new Reply.Error("CROSSSLOT Keys in request don't hash to the same slot; names with the same"
                        + " {part} in braces do");
            }
        }
        if (OWN_GROUPS.contains(spec.group()) || OWN.contains(spec.name()) || concernsNode(spec, command)) {
            return null;
        }
        GroupView group = slot < 0 ? cluster.group() : cluster.group(slot);
        return group == cluster.group() && cluster.leads() ? null : elsewhere(group, slot);
    }

    /** Whether the command is a subcommand of {@code CARAVAN.CLUSTER} that does not need the leader. */
    private static boolean concernsNode(CommandSpec spec, Command command) {
        return spec.name().equals("CARAVAN.CLUSTER") && (command.is(1, "DRAIN") || command.is(1, "HELP"));
    }

    /** Whether this node belongs to a cluster and is not the leader. */
    public boolean elsewhere() {
        return cluster != null && !cluster.leads();
    }

    private static Reply.Error elsewhere(GroupView group, int slot) {
        Optional<ClusterNode> leader = group.leader();
        if (leader.isEmpty()) {
            return new Reply.Error(
                    "CLUSTERDOWN The cluster has no leader: an election is in progress, or the majority of"
                            + " the nodes cannot be reached. Nothing was changed");
        }
        ClusterNode node = leader.get();
        return slot < 0
                ? new Reply.Error("ERR this node is a follower: send the command to the leader, node " + node.id()
                        + ", at " + node.resp())
                : new Reply.Error("MOVED " + slot + " " + node.resp().unbracketed());
    }
}
