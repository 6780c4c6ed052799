package io.caravan.server.cluster;

import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.GroupMember;
import io.caravan.cluster.GroupMember.Progress;
import io.caravan.cluster.Node;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.Quantities;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The cluster as seen by this node. Thread-safe. */
public final class Cluster {
    /** The name of the Raft directory, which is next to the store in a node's data directory. */
    public static final String RAFT_DIRECTORY = "raft";

    /** The time without a response after which the leader considers a follower unreachable. */
    public static final Duration SILENCE = Duration.ofSeconds(5);

    private final UUID id;
    private final ClusterGroup group;
    private final ClusterNode self;
    private final @Nullable SslContext tls;
    private final boolean linearizableReads;
    private final InstantSource clock;
    private final GroupView own;
    private final List<RemoteGroup> others;
    private final List<GroupView> groups;
    private volatile @Nullable GroupMember member;
    private volatile Supplier<Optional<ClusterNode>> leaderSource = Optional::empty;
    private volatile boolean serving;

    /** Creates the view for a node that is not a member yet; {@code tls} is for HTTP connections to other nodes. */
    public Cluster(
            ClusterFile file, String self, @Nullable SslContext tls, boolean linearizableReads, InstantSource clock) {
        this.id = file.id();
        this.group = file.groupOf(self);
        ClusterNode node = file.node(self);
        this.self = node;
        this.tls = tls;
        this.linearizableReads = linearizableReads;
        this.clock = clock;
        this.own = new GroupView(group, node, clock) {
            @Override
            public List<ClusterNode> nodes() {
                return Cluster.this.nodes();
            }

            @Override
            Optional<ClusterNode> knownLeader() {
                return serving ? Optional.of(node) : leaderSource.get().filter(known -> !known.equals(node));
            }
        };
        this.others = file.groups().stream()
                .filter(other -> !other.equals(group))
                .map(other -> new RemoteGroup(other, node, clock))
                .toList();
        this.groups = Stream.concat(Stream.of(own), others.stream())
                .sorted(Comparator.comparing(GroupView::slots))
                .toList();
    }

    /** Records that this node has started to participate in its group. */
    public void joined(GroupMember started) {
        member = started;
        follow(() -> started.leader().flatMap(group::described));
    }

    /** Sets the supplier of the leader of this node's group. */
    void follow(Supplier<Optional<ClusterNode>> leader) {
        leaderSource = leader;
    }

    /** Tracks the leaders of the other groups until {@link #leaveOthers}; {@code peers} is null without TLS. */
    public void followOthers(GroupConfig.@Nullable Tls peers) {
        others.forEach(other -> other.start(peers));
    }

    public void leaveOthers() {
        others.forEach(RemoteGroup::close);
    }

    /** Sets whether this node has the store open and serves it. */
    public void serving(boolean now) {
        serving = now;
    }

    /** Returns the id of the cluster, which all its groups share. */
    public UUID id() {
        return id;
    }

    public GroupView group() {
        return own;
    }

    /** Returns all groups, in the order of their slots. */
    public List<GroupView> groups() {
        return groups;
    }

    public GroupView group(int slot) {
        return own.slots().contains(slot)
                ? own
                : groups.stream()
                        .filter(each -> each.slots().contains(slot))
                        .findFirst()
                        .orElseThrow();
    }

    /** Whether the slot of this document belongs to this node's group. */
    public boolean owns(byte[] name) {
        return own.slots().contains(Slots.of(name));
    }

    /** Returns the members, sorted by id; as long as this node knows none, those in the cluster file. */
    public List<ClusterNode> nodes() {
        GroupMember here = member;
        List<Node> known = here == null ? List.of() : here.nodes();
        return known.isEmpty() ? group.nodes() : group.described(known);
    }

    /** Whether this is the host name of the HTTP address of any node in the cluster. */
    public boolean hasHttpName(String name) {
        return groups.stream()
                .flatMap(each -> each.nodes().stream())
                .anyMatch(node -> node.http().host().equalsIgnoreCase(name));
    }

    public ClusterNode self() {
        return self;
    }

    public @Nullable SslContext tls() {
        return tls;
    }

    /** Whether reads wait for {@link #confirmLeadership}. */
    public boolean linearizableReads() {
        return linearizableReads;
    }

    /** Confirms this node's leadership, as {@link GroupMember#confirmLeadership} does. May block briefly. */
    public CompletableFuture<Void> confirmLeadership() {
        try {
            return takingPart().confirmLeadership();
        } catch (IOException notYet) {
            return CompletableFuture.failedFuture(notYet);
        }
    }

    /** Whether this node leads, and serves the store. */
    public boolean leads() {
        return serving;
    }

    /** Returns the leader, if known; empty during an election, and after that until an elected node serves. */
    public Optional<ClusterNode> leader() {
        return own.leader();
    }

    public Instant now() {
        return clock.instant();
    }

    /** Returns the current term; 0 before this node participates in its group. */
    public long term() {
        GroupMember here = member;
        return here == null ? 0 : here.term();
    }

    /** Returns the number of committed entries that this node has yet to apply, as far as it knows. */
    public long behind() {
        GroupMember here = member;
        return here == null ? 0 : Math.max(0, committed() - here.appliedIndex());
    }

    /** Returns the number of committed entries of the group, some of which a follower may still lack. */
    public long committed() {
        return progress().stream().mapToLong(Progress::committed).max().orElse(0);
    }

    /** Returns the number of entries in this node's Raft log. */
    public long kept() {
        GroupMember here = member;
        return here == null ? 0 : here.keptEntries();
    }

    /** Returns the progress of each node; empty before this node participates in its group. */
    public List<Progress> progress() {
        GroupMember here = member;
        return here == null ? List.of() : here.progress();
    }

    /** Returns the progress of a node; empty if it is unknown. */
    public Optional<Progress> progress(ClusterNode node) {
        return progress().stream()
                .filter(each -> each.node().id().equals(node.id()))
                .findFirst();
    }

    /** Returns the number of reachable followers of this node, the leader. */
    public long reachable() {
        return progress().stream()
                .filter(each -> each.silent() != null && !isSilent(each))
                .count();
    }

    /** Whether another node is reachable; one whose progress is unknown, as on a follower, counts as reachable. */
    public boolean reachable(ClusterNode node) {
        return progress(node).filter(Cluster::isSilent).isEmpty();
    }

    /** Whether a node has not responded to the leader for {@link #SILENCE}. */
    public static boolean isSilent(Progress progress) {
        return progress.silent() != null && progress.silent().compareTo(SILENCE) >= 0;
    }

    /** Transfers leadership, and waits until the node leads; throws {@link IOException} if it does not. */
    public void transfer(String node, Duration timeout) throws IOException {
        ClusterNode next = nodes().stream()
                .filter(each -> each.id().equals(node))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("the cluster has no node '" + node + "'; its nodes are "
                        + nodes().stream().map(ClusterNode::id).toList()));
        Quantities.check(!next.equals(self), "node " + node + " already leads");
        takingPart().transferLeadership(node, timeout);
    }

    private GroupMember takingPart() throws IOException {
        GroupMember here = member;
        if (here == null) {
            throw new IOException("this node is not a member of its group yet");
        }
        return here;
    }

    /**
     * Changes the members of this node's group, as {@link GroupMember#changeMembers} does. After an {@link
     * IOException}, the outcome may be unknown; after an {@link IllegalArgumentException}, nothing has changed.
     */
    public void changeMembers(@Nullable String leaving, @Nullable ClusterNode joining) throws IOException {
        if (!serving) {
            throw new IOException("this node is a follower: send the command to the leader"
                    + leader().map(known -> ", node " + known.id() + ", at " + known.resp())
                            .orElse(", once a node leads"));
        }
        GroupMember leader = takingPart();
        if (joining != null) {
            requireOwnAddresses(joining);
        }
        leader.changeMembers(leaving, joining == null ? null : joining.member());
    }

    private void requireOwnAddresses(ClusterNode joining) {
        List<HostPort> wanted = joining.addresses();
        Quantities.check(
                Set.copyOf(wanted).size() == wanted.size(),
                "node " + joining.id() + " needs three different addresses");
        for (GroupView each : groups) {
            for (ClusterNode node : each.nodes()) {
                Quantities.check(
                        each == own || !node.id().equals(joining.id()),
                        "the group of the slots " + each.slots() + " already has a node " + node.id());
                node.addresses()
                        .forEach(address -> Quantities.check(
                                !wanted.contains(address),
                                "node " + node.id() + " already has the address " + address));
            }
        }
    }

    /** Returns a description of the membership change that this node, the leader, is making; empty if there is none. */
    public String change() {
        GroupMember here = member;
        return here == null ? "" : here.membershipChange().orElse("");
    }

    /** Prevents this node from leading, or allows it; throws {@link IOException} if no other node can lead. */
    public void drain(boolean now) throws IOException {
        if (!takingPart().drain(now) && now) {
            throw new IOException(
                    "no other node could take over, so this node still leads: repeat the command, or transfer leadership");
        }
    }

    public boolean drained() {
        GroupMember here = member;
        return here != null && here.drained();
    }

    /** Returns the minimum number of nodes besides the leader that have stored an acknowledged write. */
    public int replicasOfAChange() {
        return nodes().size() / 2;
    }
}
