package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.commands.ServerStatus.ordered;

import io.caravan.cluster.GroupMember.FileProgress;
import io.caravan.cluster.GroupMember.Progress;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.metrics.Statistic;
import io.caravan.server.metrics.Statistics;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The fields about the cluster in {@code INFO}. */
final class ClusterStatus {
    /** The time without a response after which the leader considers a follower unreachable. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private ClusterStatus() {}

    static Map<String, Object> fields(@Nullable Cluster cluster) {
        if (cluster == null) {
            return ordered("cluster_enabled", 0);
        }
        ClusterNode leader = cluster.leader().orElse(null);
        Map<String, Object> fields = ordered(
                "cluster_enabled", 1,
                "cluster_id", cluster.id(),
                "cluster_slots", cluster.group().slots(),
                "cluster_node", cluster.self().id(),
                "cluster_role", cluster.leads() ? "leader" : "follower",
                "cluster_change", cluster.change(),
                "cluster_drained", cluster.drained() ? 1 : 0,
                "cluster_leader", leader == null ? "" : leader.id(),
                "cluster_since_seconds", cluster.group().unchangedFor().toSeconds());
        fields.putAll(Statistic.fields(Statistics.CLUSTER, cluster, "Cluster", true));
        for (ClusterNode host : cluster.hosts()) {
            fields.put("cluster_node_" + host.id(), host(cluster, host, leader));
        }
        for (GroupView group : cluster.groups()) {
            fields.put("cluster_slots_" + group.slots(), group(group));
        }
        return fields;
    }

    private static String group(GroupView group) {
        return "leader=" + group.leader().map(ClusterNode::id).orElse("")
                + group.leader()
                        .map(host -> ",resp=" + host.resp() + ",http=" + host.http())
                        .orElse("")
                + ",since_seconds=" + group.unchangedFor().toSeconds()
                + ",nodes=" + group.hosts().stream().map(ClusterNode::id).collect(Collectors.joining("+"));
    }

    private static String host(Cluster cluster, ClusterNode host, @Nullable ClusterNode leader) {
        StringBuilder line = new StringBuilder("role=")
                .append(host.equals(leader) ? "leader" : "follower")
                .append(",resp=")
                .append(host.resp())
                .append(",http=")
                .append(host.http());
        cluster.progress(host).ifPresent(progress -> {
            line.append(",committed_entries=").append(progress.committed());
            Duration silent = progress.silent();
            if (silent != null) {
                line.append(",last_contact_ms=").append(silent.toMillis());
            }
            FileProgress files = progress.files();
            if (files != null) {
                line.append(",snapshot_bytes=").append(files.bytes());
                line.append(",snapshot_total_bytes=").append(files.total());
            }
        });
        return line.toString();
    }

    /** Returns the number of followers that the leader considers reachable. */
    static long reachable(Cluster cluster) {
        return cluster.progress().stream().filter(ClusterStatus::heard).count();
    }

    /**
     * Whether the leader considers the node reachable. A node whose progress is unknown, for example because this node
     * is a follower, counts as reachable.
     */
    static boolean reachable(Cluster cluster, ClusterNode host) {
        return cluster.progress(host)
                .filter(progress -> progress.silent() != null && !heard(progress))
                .isEmpty();
    }

    private static boolean heard(Progress progress) {
        Duration silent = progress.silent();
        return silent != null && silent.compareTo(SILENCE) < 0;
    }
}
