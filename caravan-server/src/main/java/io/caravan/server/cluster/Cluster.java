package io.caravan.server.cluster;

import io.caravan.cluster.GroupMember;
import io.caravan.cluster.GroupMember.Progress;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The cluster as this host sees it. Thread-safe. */
public final class Cluster {
    private final ClusterFile file;
    private final ClusterHost self;
    private final @Nullable SslContext tls;
    private volatile @Nullable GroupMember member;
    private volatile boolean serving;
    private Seen seen = new Seen(null, Instant.now());
    private volatile @Nullable ClusterHost lastLeader;

    /** Who leads, and since when that has been known here. */
    private record Seen(@Nullable ClusterHost leader, Instant since) {}

    /**
     * A cluster whose member has not started.
     *
     * @param self the id of this host
     * @param tls for connections to other hosts' HTTP; null when they do without TLS
     */
    public Cluster(ClusterFile file, String self, @Nullable SslContext tls) {
        this.file = file;
        this.self = file.host(self);
        this.tls = tls;
    }

    /** This host takes part from now on. */
    public void joined(GroupMember started) {
        member = started;
    }

    /** Whether this host has the store, and serves it, from now on. */
    public void serving(boolean now) {
        serving = now;
    }

    public UUID group() {
        return file.group();
    }

    public List<ClusterHost> hosts() {
        return file.hosts();
    }

    public ClusterHost self() {
        return self;
    }

    public @Nullable SslContext tls() {
        return tls;
    }

    /** Whether this host leads, and serves the store. */
    public boolean leads() {
        return serving;
    }

    /** The host that leads, as far as this one knows; none during an election, and until a new leader serves here. */
    public Optional<ClusterHost> leader() {
        if (serving) {
            return Optional.of(self);
        }
        GroupMember here = member;
        Optional<ClusterHost> leader =
                here == null ? Optional.empty() : here.leader().map(host -> file.host(host.id()));
        leader.ifPresent(known -> lastLeader = known);
        return leader.filter(known -> !known.equals(self));
    }

    /**
     * Where clients should ask: the host that leads, or during an election the one that led before, or, when this host has
     * not heard of any yet, another one. Clients that are told of none take the cluster for broken, and do not ask again.
     */
    public ClusterHost owner() {
        ClusterHost known = leader().orElse(lastLeader);
        return known != null
                ? known
                : file.hosts().stream()
                        .filter(host -> !host.equals(self))
                        .findFirst()
                        .orElseThrow();
    }

    /** Since when it has been as {@link #leader()} says, about: this is noticed when it is asked for. */
    public synchronized Instant since() {
        ClusterHost leader = leader().orElse(null);
        if (!Objects.equals(leader, seen.leader())) {
            seen = new Seen(leader, Instant.now());
        }
        return seen.since();
    }

    /** The election's number; 0 before this host takes part. */
    public long term() {
        GroupMember here = member;
        return here == null ? 0 : here.term();
    }

    /** How many committed entries this host has yet to apply, as far as it knows. */
    public long behind() {
        GroupMember here = member;
        return here == null ? 0 : Math.max(0, committed() - here.appliedIndex());
    }

    /** How many entries of the group have been committed: a follower may lack what the leader has told it of. */
    public long committed() {
        return progress().stream().mapToLong(Progress::committed).max().orElse(0);
    }

    /** How many entries this host's Raft log keeps. */
    public long kept() {
        GroupMember here = member;
        return here == null ? 0 : here.keptEntries();
    }

    /** How far each host is; empty before this one takes part. */
    public List<Progress> progress() {
        GroupMember here = member;
        return here == null ? List.of() : here.progress();
    }

    /** How far a host is, where this one knows. */
    public Optional<Progress> progress(ClusterHost host) {
        return progress().stream()
                .filter(each -> each.host().id().equals(host.id()))
                .findFirst();
    }

    /**
     * Hands leadership to another host. Waits until it leads.
     *
     * @throws IOException when it did not come to it
     * @throws IllegalArgumentException when there is no such host, or it is this one
     */
    public void transfer(String host, Duration timeout) throws IOException {
        if (file.host(host).equals(self)) {
            throw new IllegalArgumentException("host " + host + " leads already");
        }
        GroupMember here = member;
        if (here == null) {
            throw new IOException("this host does not take part yet");
        }
        here.transferLeadership(host, timeout);
    }

    /**
     * Keeps leadership away from this host, or no longer.
     *
     * @throws IOException when it leads all the same, as no other host can
     */
    public void drain(boolean now) throws IOException {
        GroupMember here = member;
        if (here == null) {
            throw new IOException("this host does not take part yet");
        }
        if (!here.drain(now) && now) {
            throw new IOException(
                    "no other host could take over, so this one goes on leading; ask again, or transfer leadership");
        }
    }

    /** Whether leadership is kept away from this host. */
    public boolean drained() {
        GroupMember here = member;
        return here != null && here.drained();
    }

    /** How many hosts besides the leader have a change when it is acknowledged, at least. */
    public int replicasOfAChange() {
        return file.hosts().size() / 2;
    }
}
