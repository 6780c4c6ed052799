package io.caravan.server.cluster;

import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.GroupMember;
import io.caravan.cluster.GroupMember.Progress;
import io.caravan.cluster.Host;
import io.caravan.server.config.HostPort;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The cluster as this host sees it. Thread-safe. */
public final class Cluster {
    /** Beside the store, in the folder of a host's data. */
    public static final String RAFT_FOLDER = "raft";

    private final ClusterGroup group;
    private final ClusterHost self;
    private final @Nullable SslContext tls;
    private final boolean strictReads;
    private final InstantSource clock;
    private final GroupView own;
    private final List<OtherGroup> others;
    private final List<GroupView> groups;
    private volatile @Nullable GroupMember member;
    private volatile Supplier<Optional<ClusterHost>> heard = Optional::empty;
    private volatile boolean serving;

    /**
     * A cluster whose member has not started.
     *
     * @param self the id of this host
     * @param tls for connections to other hosts' HTTP; null when they do without TLS
     * @param strictReads whether this host, when it leads, makes sure of that before each read
     * @param clock tells since when this host has known who leads
     */
    public Cluster(ClusterFile file, String self, @Nullable SslContext tls, boolean strictReads, InstantSource clock) {
        this.group = file.groupOf(self);
        ClusterHost host = file.host(self);
        this.self = host;
        this.tls = tls;
        this.strictReads = strictReads;
        this.clock = clock;
        this.own = new GroupView(group, host, this::hosts, this::knownLeader, clock);
        this.others = file.groups().stream()
                .filter(other -> !other.equals(group))
                .map(other -> new OtherGroup(other, host, clock))
                .toList();
        this.groups = Stream.concat(Stream.of(own), others.stream().map(OtherGroup::view))
                .sorted(Comparator.comparing(GroupView::slots))
                .toList();
    }

    /** This host takes part from now on. */
    public void joined(GroupMember started) {
        member = started;
        follow(() -> started.leader().flatMap(group::described));
    }

    /** Takes who leads this host's group from here. */
    void follow(Supplier<Optional<ClusterHost>> leader) {
        heard = leader;
    }

    /**
     * Follows who leads the other groups, until {@link #leaveOthers}.
     *
     * @param peers what hosts prove to each other with who they are; null when they do without
     */
    public void followOthers(GroupConfig.@Nullable Tls peers) {
        others.forEach(other -> other.start(peers));
    }

    public void leaveOthers() {
        others.forEach(OtherGroup::close);
    }

    /** Whether this host has the store, and serves it, from now on. */
    public void serving(boolean now) {
        serving = now;
    }

    /** The group that this host is of. */
    public GroupView group() {
        return own;
    }

    /** All groups, in the order of their slots. */
    public List<GroupView> groups() {
        return groups;
    }

    /** The group that has a slot. */
    public GroupView group(int slot) {
        return own.slots().contains(slot)
                ? own
                : groups.stream()
                        .filter(each -> each.slots().contains(slot))
                        .findFirst()
                        .orElseThrow();
    }

    /** Whether a document is in this host's group, by its slot. */
    public boolean owns(byte[] name) {
        return own.slots().contains(Slots.of(name));
    }

    /** The hosts that the group has now, by id; those of the file while this host does not know of any. */
    public List<ClusterHost> hosts() {
        GroupMember here = member;
        List<Host> known = here == null ? List.of() : here.hosts();
        return known.isEmpty() ? group.hosts() : group.described(known);
    }

    private Optional<ClusterHost> host(String id) {
        return hosts().stream().filter(host -> host.id().equals(id)).findFirst();
    }

    /** Whether clients reach a host of the cluster over HTTP by this name. */
    public boolean hasHttpName(String name) {
        return groups.stream()
                .flatMap(each -> each.hosts().stream())
                .anyMatch(host -> host.http().host().equalsIgnoreCase(name));
    }

    public ClusterHost self() {
        return self;
    }

    public @Nullable SslContext tls() {
        return tls;
    }

    /** Whether a read waits for {@link #confirmLeadership}. */
    public boolean strictReads() {
        return strictReads;
    }

    /** As {@link GroupMember#confirmLeadership}; may take a moment to begin. */
    public CompletableFuture<Void> confirmLeadership() {
        try {
            return takingPart().confirmLeadership();
        } catch (IOException notYet) {
            return CompletableFuture.failedFuture(notYet);
        }
    }

    /** Whether this host leads, and serves the store. */
    public boolean leads() {
        return serving;
    }

    /** The host that leads, as far as this one knows; none during an election, and until a new leader serves here. */
    public Optional<ClusterHost> leader() {
        return own.leader();
    }

    private Optional<ClusterHost> knownLeader() {
        if (serving) {
            return Optional.of(self);
        }
        return heard.get().filter(known -> !known.equals(self));
    }

    /** What time it is for this view of the cluster. */
    public Instant now() {
        return clock.instant();
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
        ClusterHost next = host(host)
                .orElseThrow(() -> new IllegalArgumentException("the cluster has no host '" + host + "', but "
                        + hosts().stream().map(ClusterHost::id).toList()));
        if (next.equals(self)) {
            throw new IllegalArgumentException("host " + host + " leads already");
        }
        takingPart().transferLeadership(host, timeout);
    }

    private GroupMember takingPart() throws IOException {
        GroupMember here = member;
        if (here == null) {
            throw new IOException("this host does not take part yet");
        }
        return here;
    }

    /**
     * Adds a host that waits to join. Waits until it is one of the cluster, which takes as long as to copy the store.
     *
     * @throws IOException when it did not come to it
     * @throws IllegalArgumentException when the cluster cannot take the change; nothing has changed
     */
    public void add(ClusterHost host) throws IOException {
        GroupMember leader = leading();
        requireOwnAddresses(host);
        leader.add(host.member());
    }

    /** Removes a host that has been stopped; as {@link #add}. */
    public void remove(String host) throws IOException {
        leading().remove(host);
    }

    /** Adds a host in the place of one that may be lost for good, in one step; as {@link #add}. */
    public void replace(String host, ClusterHost by) throws IOException {
        GroupMember leader = leading();
        requireOwnAddresses(by);
        leader.replace(host, by.member());
    }

    private GroupMember leading() throws IOException {
        if (!serving) {
            throw new IOException("this host follows: ask "
                    + leader().map(known -> "host " + known.id() + ", which leads, at " + known.resp())
                            .orElse("again when a host leads"));
        }
        return takingPart();
    }

    private void requireOwnAddresses(ClusterHost joining) {
        List<HostPort> wanted = addresses(joining);
        if (Set.copyOf(wanted).size() < wanted.size()) {
            throw new IllegalArgumentException("host " + joining.id() + " needs three addresses, each its own");
        }
        for (GroupView each : groups) {
            for (ClusterHost host : each.hosts()) {
                if (each != own && host.id().equals(joining.id())) {
                    throw new IllegalArgumentException(
                            "the group of the slots " + each.slots() + " has a host " + host.id() + " already");
                }
                for (HostPort address : addresses(host)) {
                    if (wanted.contains(address)) {
                        throw new IllegalArgumentException(
                                "host " + host.id() + " has the address " + address + " already");
                    }
                }
            }
        }
    }

    private static List<HostPort> addresses(ClusterHost host) {
        return List.of(host.peer(), host.resp(), host.http());
    }

    /** What this host, which leads, changes about the cluster's hosts at the moment; empty when it is nothing. */
    public String change() {
        GroupMember here = member;
        return here == null ? "" : here.hostChange().orElse("");
    }

    /**
     * Keeps leadership away from this host, or no longer.
     *
     * @throws IOException when it leads all the same, as no other host can
     */
    public void drain(boolean now) throws IOException {
        if (!takingPart().drain(now) && now) {
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
        return hosts().size() / 2;
    }
}
