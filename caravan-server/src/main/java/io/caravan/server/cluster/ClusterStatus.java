package io.caravan.server.cluster;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.caravan.cluster.GroupMember.FileProgress;
import io.caravan.cluster.GroupMember.Progress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

public record ClusterStatus(
        String id,
        String slots,
        @JsonUnwrapped Summary summary,
        boolean drained,
        String change,
        long term,
        long committedEntries,
        long logEntries,
        List<Node> nodes,
        List<Group> groups) {

    /** The role and the lag of the node, which are available without a token. */
    public record Summary(
            String role, String node, @Nullable String leader, String since, long unappliedEntries) {
        public static Summary of(Cluster cluster) {
            return new Summary(
                    cluster.leads() ? "leader" : "follower",
                    cluster.self().id(),
                    cluster.leader().map(ClusterNode::id).orElse(null),
                    cluster.group().since().toString(),
                    cluster.behind());
        }
    }

    /** A node of the same Raft group. Values that the reporting node does not know are null. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Node(
            String id,
            String role,
            String resp,
            String http,
            @Nullable Long committedEntries,
            @Nullable Long lastContactMillis,
            @Nullable Long snapshotBytes,
            @Nullable Long snapshotTotalBytes) {
        static Node of(Cluster cluster, ClusterNode node) {
            Progress progress = cluster.progress(node).orElse(null);
            Duration silent = progress == null ? null : progress.silent();
            FileProgress files = progress == null ? null : progress.files();
            return new Node(
                    node.id(),
                    cluster.leader().filter(node::equals).isPresent() ? "leader" : "follower",
                    node.resp().toString(),
                    node.http().toString(),
                    progress == null ? null : progress.committed(),
                    silent == null ? null : silent.toMillis(),
                    files == null ? null : files.bytes(),
                    files == null ? null : files.total());
        }
    }

    /** A Raft group of the cluster. */
    public record Group(String slots, @Nullable String leader, String since, List<String> nodes) {
        static Group of(GroupView group) {
            return new Group(
                    group.slots().toString(),
                    group.leader().map(ClusterNode::id).orElse(null),
                    group.since().toString(),
                    group.nodes().stream().map(ClusterNode::id).toList());
        }
    }

    public static ClusterStatus of(Cluster cluster) {
        return new ClusterStatus(
                cluster.id().toString(),
                cluster.group().slots().toString(),
                Summary.of(cluster),
                cluster.drained(),
                cluster.change(),
                cluster.term(),
                cluster.committed(),
                cluster.kept(),
                cluster.nodes().stream().map(node -> Node.of(cluster, node)).toList(),
                cluster.groups().stream().map(Group::of).toList());
    }
}
