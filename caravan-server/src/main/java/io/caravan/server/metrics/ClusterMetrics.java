package io.caravan.server.metrics;

import io.caravan.cluster.GroupMember.FileProgress;
import io.caravan.cluster.GroupMember.Progress;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.metrics.ServerMetrics.Figures;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** The state of a node in its cluster. */
public final class ClusterMetrics {
    private static final String NODE = "node";

    private ClusterMetrics() {}

    /** Registers the metrics of a server that is part of a cluster. */
    public static void register(ServerMetrics metrics, Cluster source) {
        Figures<Cluster> cluster = metrics.of(() -> source);
        cluster.gauge("caravan.cluster.leads", "1 when this host leads, 0 when it follows", c -> c.leads() ? 1 : 0);
        cluster.gauge(
                "caravan.cluster.leader.known",
                "1 when this host knows which one leads, 0 during an election and without a majority",
                c -> c.leader().isPresent() ? 1 : 0);
        cluster.gauge("caravan.cluster.term", "The election's number, which rises with each", Cluster::term);
        cluster.gauge(
                "caravan.cluster.unapplied.entries",
                "Committed entries that this host has yet to apply",
                Cluster::behind);
        cluster.gauge("caravan.cluster.log.entries", "Entries that this host's Raft log keeps", Cluster::kept);
        metrics.gauges(
                "caravan.cluster.node.lag.entries",
                "Committed entries that a host has yet to hear of, as far as this one knows; the leader knows best",
                NODE,
                () -> each(source, progress -> Math.max(0, source.committed() - progress.committed())));
        metrics.gauges(
                "caravan.cluster.node.last.contact.seconds",
                "Since the leader last heard from a host; 0 where this is not known",
                NODE,
                () -> each(source, ClusterMetrics::silentSeconds));
        metrics.gauges(
                "caravan.cluster.node.snapshot.bytes",
                "What a host has of the store's files that it is sent, because it is behind what the Raft log keeps; 0"
                        + " when it is sent none, as far as this host knows",
                NODE,
                () -> each(source, ClusterMetrics::snapshotBytes));
    }

    /** Returns a number for each current member of the group. */
    private static Map<String, Double> each(Cluster cluster, ToDoubleFunction<Progress> figure) {
        Map<String, Double> figures = new TreeMap<>();
        cluster.hosts().forEach(host -> figures.put(host.id(), 0.0));
        cluster.progress().forEach(progress -> figures.put(progress.node().id(), figure.applyAsDouble(progress)));
        return figures;
    }

    private static double snapshotBytes(Progress progress) {
        FileProgress files = progress.files();
        return files == null ? 0 : files.bytes();
    }

    private static double silentSeconds(Progress progress) {
        Duration silent = progress.silent();
        return silent == null ? 0 : silent.toMillis() / 1e3;
    }
}
