package io.caravan.server.cluster;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A group of the cluster as seen by this node, which may or may not belong to the group. Thread-safe. */
public abstract class GroupView {
    private final ClusterGroup group;
    private final ClusterNode self;
    private final InstantSource clock;
    private @Nullable ClusterNode seen;
    private Instant seenSince;
    private volatile @Nullable ClusterNode lastLeader;

    GroupView(ClusterGroup group, ClusterNode self, InstantSource clock) {
        this.group = group;
        this.self = self;
        this.clock = clock;
        this.seenSince = clock.instant();
    }

    public UUID id() {
        return group.id();
    }

    public SlotRange slots() {
        return group.slots();
    }

    /** Returns the current members of the group, as far as this node knows. */
    public abstract List<ClusterNode> nodes();

    abstract Optional<ClusterNode> knownLeader();

    /** Returns the leader, as far as this node knows; empty during an election. */
    public Optional<ClusterNode> leader() {
        Optional<ClusterNode> known = knownLeader();
        known.ifPresent(node -> lastLeader = node);
        return known;
    }

    /**
     * Returns the node that clients should contact: the leader, else the previous leader, else any other node of the
     * group. Clients that receive no owner assume that the cluster is broken, and do not retry.
     */
    public ClusterNode owner() {
        ClusterNode known = leader().orElse(lastLeader);
        return known != null ? known : nodesExcept(self).stream().findFirst().orElse(self);
    }

    public List<ClusterNode> nodesExcept(ClusterNode one) {
        return nodes().stream().filter(node -> !node.equals(one)).toList();
    }

    /** Returns when {@link #leader()} last changed. A change is detected when this method is called. */
    public synchronized Instant since() {
        ClusterNode now = leader().orElse(null);
        if (!Objects.equals(now, seen)) {
            seen = now;
            seenSince = clock.instant();
        }
        return seenSince;
    }

    public Duration unchangedFor() {
        return Duration.between(since(), clock.instant());
    }
}
