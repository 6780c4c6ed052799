package io.caravan.server.protocol.http.endpoint;

import io.caravan.cluster.GroupMember.FileProgress;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.connection.HttpExchange;
import io.caravan.server.protocol.http.connection.Readiness;
import io.caravan.server.protocol.http.connection.Route;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Describes the cluster as seen by this node. */
public final class ClusterEndpoint implements Route.Endpoint {
    private final Readiness readiness;

    public ClusterEndpoint(Readiness readiness) {
        this.readiness = readiness;
    }

    /** Returns a summary of the role and the lag of this node, which is available without a token. */
    static Map<String, Object> brief(Cluster cluster) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("role", cluster.leads() ? "leader" : "follower");
        fields.put("node", cluster.self().id());
        fields.put("leader", cluster.leader().map(ClusterNode::id).orElse(null));
        fields.put("since", cluster.group().since().toString());
        fields.put("unappliedEntries", cluster.behind());
        return fields;
    }

    @Override
    public void handle(HttpExchange exchange) {
        Cluster cluster = readiness.cluster();
        if (cluster == null) {
            throw new Problem(404, "no_cluster", "this server is alone: it was started without --cluster-file");
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", cluster.id().toString());
        fields.put("slots", cluster.group().slots().toString());
        fields.putAll(brief(cluster));
        fields.put("drained", cluster.drained());
        fields.put("change", cluster.change());
        fields.put("term", cluster.term());
        fields.put("committedEntries", cluster.committed());
        fields.put("logEntries", cluster.kept());
        List<Map<String, Object>> hosts = new ArrayList<>();
        for (ClusterNode host : cluster.hosts()) {
            hosts.add(host(cluster, host));
        }
        fields.put("nodes", hosts);
        fields.put(
                "groups", cluster.groups().stream().map(ClusterEndpoint::group).toList());
        exchange.answer(Answer.json(200, fields));
    }

    private static Map<String, Object> group(GroupView group) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("slots", group.slots().toString());
        fields.put("leader", group.leader().map(ClusterNode::id).orElse(null));
        fields.put("since", group.since().toString());
        fields.put("nodes", group.hosts().stream().map(ClusterNode::id).toList());
        return fields;
    }

    private static Map<String, Object> host(Cluster cluster, ClusterNode host) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", host.id());
        fields.put("resp", host.resp().toString());
        fields.put("http", host.http().toString());
        cluster.progress(host).ifPresent(progress -> {
            fields.put("committedEntries", progress.committed());
            fields.put("lastContactMillis", millis(progress.silent()));
            FileProgress files = progress.files();
            if (files != null) {
                fields.put("snapshotBytes", files.bytes());
                fields.put("snapshotTotalBytes", files.total());
            }
        });
        return fields;
    }

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }
}
