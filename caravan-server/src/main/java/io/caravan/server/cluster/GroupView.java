package io.caravan.server.cluster;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A group of the cluster as seen by this node. Thread-safe. */
public final class GroupView {
    private final UUID id;
    private final SlotRange slots;
    private final ClusterNode self;
    private final Supplier<List<ClusterNode>> nodes;
    private final Supplier<Optional<ClusterNode>> leader;
    private final InstantSource clock;
    private Seen seen;
    private volatile @Nullable ClusterNode lastLeader;

    /** The leader, and the time at which this node learned of it. */
    private record Seen(@Nullable ClusterNode leader, Instant since) {}

    /** Creates a view of a group, to which this node, {@code self}, may or may not belong. */
    GroupView(
            ClusterGroup group,
            ClusterNode self,
            Supplier<List<ClusterNode>> nodes,
            Supplier<Optional<ClusterNode>> leader,
            InstantSource clock) {
        this.id = group.id();
        this.slots = group.slots();
        this.self = self;
        this.nodes = nodes;
        this.leader = leader;
        this.clock = clock;
        this.seen = new Seen(null, clock.instant());
    }

    public UUID id() {
        return id;
    }

    public SlotRange slots() {
        return slots;
    }

    /** Returns the current members of the group, as far as this node knows. */
    public List<ClusterNode> nodes() {
        return nodes.get();
    }

    /** Returns the leader, as far as this node knows; empty during an election. */
    public Optional<ClusterNode> leader() {
        Optional<ClusterNode> known = leader.get();
        known.ifPresent(node -> lastLeader = node);
        return known;
    }

    /**
     * Returns the node that clients should contact: the leader, else the previous leader, else any other node of the
     * group. Clients that receive no owner assume that the cluster is broken, and do not retry.
     */
    public ClusterNode owner() {
        ClusterNode known = leader().orElse(lastLeader);
        return known != null
                ? known
                : nodes().stream()
                        .filter(node -> !node.equals(self))
                        .findFirst()
                        .orElse(self);
    }

    /** Returns all nodes of the group except the given one. */
    public List<ClusterNode> nodesExcept(ClusterNode one) {
        return nodes().stream().filter(node -> !node.equals(one)).toList();
    }

    /** Returns when {@link #leader()} last changed. A change is detected when this method is called. */
    public synchronized Instant since() {
        ClusterNode now = leader().orElse(null);
        if (!Objects.equals(now, seen.leader())) {
            seen = new Seen(now, clock.instant());
        }
        return seen.since();
    }

    /** Returns the time since {@link #leader()} last changed. */
    public Duration unchangedFor() {
        return Duration.between(since(), clock.instant());
    }
}
