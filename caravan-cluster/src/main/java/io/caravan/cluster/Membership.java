package io.caravan.cluster;

import io.caravan.StoreDirectoryException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.apache.ratis.server.RaftConfiguration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the members of the group from its Raft log, and makes membership changes, one at a time. Thread-safe. */
final class Membership {
    private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(3);

    private final GroupConfig config;
    private final LocalRaft raft;
    private final RaftPeerId self;
    private final AtomicReference<@Nullable MembershipChange> inProgress = new AtomicReference<>();

    Membership(GroupConfig config, LocalRaft raft) {
        this.config = config;
        this.raft = raft;
        this.self = RaftPeerId.valueOf(config.self());
    }

    static RaftPeer peer(Node node) {
        // Ratis streams no data here, so the data stream address holds the application's note about the node.
        return RaftPeer.newBuilder()
                .setId(node.id())
                .setAddress(node.authority())
                .setDataStreamAddress(node.note())
                .build();
    }

    private static Node node(RaftPeer peer) {
        return node(peer.getRaftPeerProto());
    }

    /** Decodes a node that {@link #peer} encoded, as received over the network. */
    static Node node(RaftPeerProto peer) {
        return Node.of(peer.getId().toStringUtf8(), peer.getAddress(), peer.getDataStreamAddress());
    }

    /** Returns the voting members of the newest membership entry, in no order; empty while this node joins. */
    List<Node> nodes() {
        return peers().stream().map(Membership::node).toList();
    }

    private List<RaftPeer> peers() {
        return List.copyOf(raft.joinedDivision().getRaftConf().getCurrentPeers());
    }

    /** Whether the group has permanently removed this node, according to this node's own log. */
    boolean isWithoutThis() {
        RaftConfiguration nodes = raft.joinedDivision().getRaftConf();
        // During a change both memberships exist, and it is unknown which membership will remain.
        return nodes.getPreviousPeers().isEmpty()
                && nodes.getCurrentPeers().stream()
                        .noneMatch(peer -> peer.getId().equals(self));
    }

    /** Returns the membership change that this node is making as the leader; empty if there is none. */
    Optional<MembershipChange> inProgress() {
        return Optional.ofNullable(inProgress.get());
    }

    /**
     * Makes a membership change, as {@link GroupMember#changeMembers} describes.
     *
     * @param reachable whether a node of the group is known to respond
     * @throws IllegalArgumentException if the change is invalid; nothing has changed
     * @throws IOException if the change failed, or its outcome is unknown
     */
    void make(MembershipChange change, Predicate<String> reachable) throws IOException {
        if (!raft.joinedDivision().getInfo().isLeader()) {
            throw new IOException("node " + config.self() + " is not the leader: send the change to the leader");
        }
        if (!inProgress.compareAndSet(null, change)) {
            throw new IOException("another membership change is in progress: " + inProgress.get());
        }
        try {
            List<RaftPeer> now = peers();
            change.check(now.stream().map(Membership::node).toList(), config.self(), reachable);
            Node joining = change.joining();
            if (joining != null) {
                requireThere(joining);
            }
            LOG.info("{}: begins a membership change: {}", config.self(), change);
            set(change, now);
            LOG.info("{}: has made a membership change: {}", config.self(), change);
        } finally {
            inProgress.set(null);
        }
    }

    /** Checks that the joining node responds with its own id, so that no node is counted twice. */
    private void requireThere(Node joining) throws IOException {
        GroupInfoReply member = query(config, joining).orElseThrow(() -> new IOException(noResponse(joining)));
        // The reply's own server id only repeats the id of the request.
        RaftPeerId id = RaftPeerId.valueOf(member.getRoleInfoProto().getSelf().getId());
        if (!id.toString().equals(joining.id())) {
            throw new IllegalArgumentException(
                    "the node at " + joining.authority() + " has the id " + id + ", not " + joining.id());
        }
    }

    private static String noResponse(@Nullable Node joining) {
        return "node " + joining + " does not respond: start it with an empty directory and join (--cluster-join);"
                + " nothing has changed";
    }

    private void set(MembershipChange change, List<RaftPeer> now) throws IOException {
        List<RaftPeer> next = new ArrayList<>(now);
        next.removeIf(peer -> peer.getId().toString().equals(change.leaving()));
        Node joining = change.joining();
        if (joining != null) {
            next.add(peer(joining));
        }
        SetConfigurationRequest.Arguments nodes = SetConfigurationRequest.Arguments.newBuilder()
                .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                .setServersInCurrentConf(now)
                .setServersInNewConf(next)
                .build();
        try {
            RaftClientReply reply = await(raft.setMembers(nodes));
            if (!reply.isSuccess()) {
                throw Objects.requireNonNullElseGet(
                        reply.getException(), () -> new RaftException("Raft rejected the change: " + reply));
            }
        } catch (IOException failed) {
            throw new IOException(why(change, failed), failed);
        }
    }

    /**
     * Waits for the reply to a change request. Raft does not check whether the leader still reaches a majority while a
     * joining node catches up, so this method does.
     */
    private RaftClientReply await(CompletableFuture<RaftClientReply> change) throws IOException {
        while (true) {
            try {
                return change.get(config.election().toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException inProgress) {
                if (hasLostMajority()) {
                    LOG.warn(
                            "{}: steps down: it has heard from no majority of {} while a node catches up",
                            config.self(),
                            nodes());
                    raft.stepDown(config.election());
                }
            } catch (ExecutionException failed) {
                throw failed.getCause() instanceof IOException known ? known : new IOException(failed.getCause());
            } catch (InterruptedException hurried) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted during a membership change");
            }
        }
    }

    /** Whether this leader has had no contact with a majority within the longest election timeout. */
    private boolean hasLostMajority() {
        long timeoutMillis = RaftSettings.longestElectionMillis(config);
        RoleInfoProto role = raft.joinedDivision().getInfo().getRoleInfoProto();
        if (role.getRole() != RaftPeerRole.LEADER || role.getRoleElapsedTimeMs() < timeoutMillis) {
            return false;
        }
        Set<RaftPeerId> contacted = role.getLeaderInfo().getFollowerInfoList().stream()
                .filter(follower -> follower.getLastRpcElapsedTimeMs() <= timeoutMillis)
                .map(follower -> RaftPeerId.valueOf(follower.getId().getId()))
                .collect(Collectors.toSet());
        List<RaftPeer> voters = peers();
        long there = voters.stream()
                .map(RaftPeer::getId)
                .filter(id -> id.equals(self) || contacted.contains(id))
                .count();
        return 2 * there <= voters.size();
    }

    private static String why(MembershipChange change, IOException failure) {
        if (failure instanceof ReconfigurationTimeoutException) {
            return noResponse(change.joining());
        }
        if (failure instanceof ReconfigurationInProgressException) {
            return "another membership change is in progress";
        }
        return "it is unknown whether " + change + ": " + failure.getMessage()
                + "; check the members of the group before you try again";
    }

    /** Whether another node reports that the group has removed this node. Takes several seconds if no node responds. */
    boolean continuesWithoutThis() {
        return nodes().stream().filter(node -> !node.id().equals(config.self())).anyMatch(this::continuesWithoutThis);
    }

    private boolean continuesWithoutThis(Node other) {
        return query(config, other)
                .flatMap(GroupInfoReply::getConf)
                .filter(this::isWithoutThis)
                .isPresent();
    }

    /** Returns another node's view of the group; empty if that node does not respond or is not in the group. */
    private static Optional<GroupInfoReply> query(GroupConfig config, Node other) {
        try (LeaderLookup lookup = new LeaderLookup(config.group(), config.tls(), REPLY_TIMEOUT)) {
            return lookup.reply(other);
        }
    }

    /**
     * Rejects a node that is already a member, or may become one: it had files before, and if it voted without them,
     * acknowledged writes could be lost. Queries the other nodes, for several seconds if none responds.
     *
     * @throws StoreDirectoryException if the node is a member
     * @throws IOException if no node of the group responds
     */
    static void requireNewcomer(GroupConfig config) throws IOException {
        List<RaftConfigurationProto> known = config.nodes().stream()
                .filter(node -> !node.id().equals(config.self()))
                .flatMap(node -> query(config, node).stream())
                .flatMap(member -> member.getConf().stream())
                .filter(nodes -> nodes.getPeersCount() > 0)
                .toList();
        if (known.isEmpty()) {
            throw new IOException("none of the nodes " + config.nodes() + " responds: node " + config.self()
                    + " can join once one of them responds");
        }
        RaftPeerId self = RaftPeerId.valueOf(config.self());
        if (known.stream()
                .flatMap(nodes -> Stream.concat(nodes.getPeersList().stream(), nodes.getOldPeersList().stream()))
                .anyMatch(peer -> RaftPeerId.valueOf(peer.getId()).equals(self))) {
            throw new StoreDirectoryException("node " + config.self()
                    + " is already a member of the group, and has lost its files, and with them writes that it"
                    + " acknowledged. Replace it with a node that has another id");
        }
    }

    /**
     * Rejects a first start with settings that differ from those of the nodes that respond. Also rejects a node of a
     * new group that has already received entries of the group: the group is then not new, and the node has lost its
     * files. Queries the other nodes, for several seconds each if they do not respond.
     *
     * @throws StoreDirectoryException if the start is rejected
     */
    static void requireFirstStart(GroupConfig config) throws StoreDirectoryException {
        for (Node other : config.nodes()) {
            if (other.id().equals(config.self())) {
                continue;
            }
            try (LeaderLookup lookup = new LeaderLookup(config.group(), config.tls(), REPLY_TIMEOUT)) {
                Optional<NodeFacts> facts = lookup.facts(other, config.self());
                if (facts.isPresent()) {
                    requireFits(config, other, facts.get());
                }
            }
        }
    }

    private static void requireFits(GroupConfig config, Node other, NodeFacts facts) throws StoreDirectoryException {
        // A node that joins may have been removed before. It votes only once it is a member again.
        if (facts.hasSeenSender() && config.start() == GroupConfig.Start.CREATE) {
            throw new StoreDirectoryException(
                    "node " + config.self() + " is already a member of the group, according to node " + other.id()
                            + ", and has lost its files, and with them writes that it acknowledged. Put the files"
                            + " back, or replace the node with one that joins (--cluster-join) with another id");
        }
        int segmentBytes = config.store().logSegmentBytes();
        if (facts.logSegmentBytes() != segmentBytes) {
            throw new StoreDirectoryException("logSegmentBytes is " + segmentBytes + " on this node, " + config.self()
                    + ", but " + facts.logSegmentBytes() + " on node " + other.id()
                    + ", and must be the same in a group: at its first start, start this node with the setting with"
                    + " which the group was created (of caravan serve, --max-value); later, values may be larger");
        }
        if (facts.formatLevel() != FrameEntry.FORMAT_LEVEL) {
            throw new StoreDirectoryException("the format level is " + FrameEntry.FORMAT_LEVEL + " on this node, "
                    + config.self() + ", but " + facts.formatLevel() + " on node " + other.id()
                    + ", and must be the same at the first start of a node: start it with the version of Caravan that"
                    + " the other nodes run");
        }
    }

    /** Whether the membership that another node reports permanently excludes this node. */
    private boolean isWithoutThis(RaftConfigurationProto nodes) {
        return nodes.getPeersCount() > 0
                && nodes.getOldPeersCount() == 0
                && nodes.getPeersList().stream()
                        .noneMatch(peer -> RaftPeerId.valueOf(peer.getId()).equals(self));
    }
}
