package io.caravan.server.cluster;

import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** A cluster of three nodes without consensus, in which the test selects the leader. Thread-safe. */
public final class FollowedLeader {
    private final Cluster cluster;
    private volatile ClusterNode leader;

    /** Creates the first node's view of a cluster in which the second node leads. */
    public FollowedLeader(List<ClusterNode> nodes) {
        cluster = new Cluster(
                ClusterFile.of(UUID.randomUUID(), Map.of(SlotRange.ALL, nodes)),
                nodes.get(0).id(),
                null,
                false,
                InstantSource.system());
        leader = nodes.get(1);
        cluster.follow(() -> Optional.of(leader));
    }

    public Cluster cluster() {
        return cluster;
    }

    /** Makes this node the leader. */
    public void leads(ClusterNode node) {
        leader = node;
    }
}
