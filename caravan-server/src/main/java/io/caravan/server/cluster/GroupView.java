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

/** A group of the cluster as this host sees it. Thread-safe. */
public final class GroupView {
    private final UUID id;
    private final SlotRange slots;
    private final ClusterHost self;
    private final Supplier<List<ClusterHost>> hosts;
    private final Supplier<Optional<ClusterHost>> leader;
    private final InstantSource clock;
    private Seen seen;
    private volatile @Nullable ClusterHost lastLeader;

    /** Who leads, and since when that has been known here. */
    private record Seen(@Nullable ClusterHost leader, Instant since) {}

    /**
     * A view of a group.
     *
     * @param self this host, which may be of the group or of another
     * @param hosts those that the group has now
     * @param leader the one that leads, as far as this host knows
     */
    GroupView(
            ClusterGroup group,
            ClusterHost self,
            Supplier<List<ClusterHost>> hosts,
            Supplier<Optional<ClusterHost>> leader,
            InstantSource clock) {
        this.id = group.id();
        this.slots = group.slots();
        this.self = self;
        this.hosts = hosts;
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

    /** The hosts that the group has now, as far as this one knows. */
    public List<ClusterHost> hosts() {
        return hosts.get();
    }

    /** The host that leads, as far as this one knows; none during an election. */
    public Optional<ClusterHost> leader() {
        Optional<ClusterHost> known = leader.get();
        known.ifPresent(host -> lastLeader = host);
        return known;
    }

    /**
     * Where clients should ask: the host that leads, or during an election the one that led before, or, when this host has
     * not heard of any yet, another one. Clients that are told of none take the cluster for broken, and do not ask again.
     */
    public ClusterHost owner() {
        ClusterHost known = leader().orElse(lastLeader);
        return known != null
                ? known
                : hosts().stream()
                        .filter(host -> !host.equals(self))
                        .findFirst()
                        .orElse(self);
    }

    /** The hosts besides one. */
    public List<ClusterHost> hostsBesides(ClusterHost one) {
        return hosts().stream().filter(host -> !host.equals(one)).toList();
    }

    /** What Redis's clients know a host of the group by; see {@link ClusterHost#nodeId}. */
    public String nodeId(ClusterHost host) {
        return host.nodeId(id);
    }

    /** Since when it has been as {@link #leader()} says, about: this is noticed when it is asked for. */
    public synchronized Instant since() {
        ClusterHost now = leader().orElse(null);
        if (!Objects.equals(now, seen.leader())) {
            seen = new Seen(now, clock.instant());
        }
        return seen.since();
    }

    /** For how long it has been so. */
    public Duration unchangedFor() {
        return Duration.between(since(), clock.instant());
    }
}
