package io.caravan.cluster;

import io.caravan.DurableListStore;
import io.caravan.Replica;
import io.caravan.StoreDirectoryException;
import io.caravan.VerifyReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's membership in a group. The node votes, keeps the Raft log, and has a replica of the store. It notifies a
 * listener when the store may be used. Thread-safe.
 */
public final class GroupMember implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GroupMember.class);
    /** The timeout for the leadership transfer in {@link #handOver}. */
    private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(2);
    /** The time for which a node counts as reachable after its last response, unless the election timeout is longer. */
    private static final Duration CONTACT_TIMEOUT = Duration.ofSeconds(2);
    /** The timeout for a confirmation, in election timeouts; a leader detects a lost majority after two of them. */
    private static final int CONFIRMATION_ELECTIONS = 4;
    /** The number of election timeouts after which this node repeats an offer of leadership. */
    private static final int TRANSFER_ELECTIONS = 4;

    private static final long LEADER_PAUSE_NANOS = 10_000_000;

    private final GroupConfig config;
    private final RaftServer server;
    private final LocalRaft raft;
    private final GroupStateMachine state;
    private final Membership membership;
    private final LeadershipConfirmations confirmations;
    private final ProgressMonitor monitor;
    private volatile boolean drained;

    private GroupMember(GroupConfig config, LeadershipListener listener) throws IOException {
        this.config = config;
        RaftGroupId groupId = RaftGroupId.valueOf(config.group());
        this.state = new GroupStateMachine(config, listener, this::propose, () -> drained, this::handOver);
        this.server = RaftServer.newBuilder()
                .setServerId(RaftPeerId.valueOf(config.self()))
                .setGroup(RaftGroup.valueOf(groupId, firstNodes(config)))
                .setStateMachine(state)
                .setProperties(RaftSettings.properties(config))
                .setParameters(RaftSettings.parameters(config, this::division))
                .setOption(
                        config.start() == GroupConfig.Start.AGAIN
                                ? RaftStorage.StartupOption.RECOVER
                                : RaftStorage.StartupOption.FORMAT)
                .build();
        this.raft = new LocalRaft(server, groupId);
        this.membership = new Membership(config, raft);
        this.confirmations = new LeadershipConfirmations(
                config.self(),
                raft::commitEmptyEntry,
                CONFIRMATION_ELECTIONS * config.election().toMillis());
        this.monitor = new ProgressMonitor(config, raft, state);
    }

    /** Returns the initial members of a new group, or none if this node joins, and learns the members from the log. */
    private static List<RaftPeer> firstNodes(GroupConfig config) {
        return Files.exists(joinedMark(config))
                ? List.of()
                : config.nodes().stream().map(Membership::peer).toList();
    }

    /** Returns the file of a node that joined an existing group, and must not vote until the group admits it. */
    private static Path joinedMark(GroupConfig config) {
        return config.raftDirectory().resolve("joined");
    }

    /**
     * Starts this node's participation in its group. Returns before the group has a leader.
     *
     * @throws StoreDirectoryException if the directories are empty although this is not the first start, are not empty
     *     although it is, or contain files of another group or store. At the first start, also if this node is already
     *     a member, or if its settings differ from those of the other nodes
     * @throws IOException if Raft cannot read its log or listen on its address, or if the node joins and no other node
     *     responds
     */
    public static GroupMember start(GroupConfig config, LeadershipListener listener) throws IOException {
        requireRightStart(config);
        if (config.start() == GroupConfig.Start.AGAIN) {
            RaftMetadataRepair.prepare(
                    config.raftDirectory().resolve(config.group().toString()), config.self());
        }
        GroupMember member = new GroupMember(config, listener);
        try {
            member.server.start();
            member.requireMember();
            member.monitor.start();
        } catch (IOException | RuntimeException failed) {
            member.close();
            throw failed;
        }
        return member;
    }

    /**
     * Reads every byte of the replica of a stopped node, and reports every fault. Frames that a power failure removed
     * from the log, and that the node replays from the Raft log at its next start, are not faults.
     *
     * @param raftDirectory the node's Raft directory; without a Raft log, the replica is verified as an ordinary store
     * @throws io.caravan.StoreLockedException if the node is running
     * @throws StoreDirectoryException if the directory contains no store
     * @throws IOException if the Raft directory cannot be read
     */
    public static VerifyReport verify(Path store, Path raftDirectory, VerifyReport.Progress progress)
            throws IOException {
        try (Stream<Path> groups = Files.isDirectory(raftDirectory) ? Files.list(raftDirectory) : Stream.empty()) {
            Optional<Path> marks = groups.map(group -> group.resolve("sm"))
                    .filter(Files::isDirectory)
                    .findFirst();
            if (marks.isEmpty()) {
                return DurableListStore.verify(store, progress);
            }
            AppliedIndex.Applied durable = new AppliedIndex(marks.get()).durable();
            return Replica.verify(store, durable == null ? 0 : durable.endLsn(), progress);
        }
    }

    private static void requireRightStart(GroupConfig config) throws IOException {
        boolean joined =
                Files.isDirectory(config.raftDirectory().resolve(config.group().toString()));
        if (config.start() != GroupConfig.Start.AGAIN) {
            requireEmpty(config.raftDirectory());
            requireEmpty(config.store().directory());
            for (Path left : adjacentDirectories(config.store().directory())) {
                requireEmpty(left);
            }
        } else if (!joined) {
            throw new StoreDirectoryException(config.raftDirectory() + " has no Raft log of group " + config.group()
                    + ". If the group is new, use create (--cluster-create) at the first start of each node. If the"
                    + " node is new, use join (--cluster-join). If this node has lost its files, start it with another"
                    + " id, because it has also lost writes that it acknowledged");
        }
        if (config.start() == GroupConfig.Start.JOIN) {
            Membership.requireNewcomer(config);
        }
        if (config.start() != GroupConfig.Start.AGAIN) {
            Membership.requireFirstStart(config);
        }
        if (!Files.exists(config.raftDirectory())) {
            Files.createDirectories(config.raftDirectory());
            StoreDirectories.force(config.raftDirectory().resolveSibling("."));
        }
        if (config.start() == GroupConfig.Start.JOIN) {
            Files.createFile(joinedMark(config));
            StoreDirectories.force(config.raftDirectory());
        }
    }

    /** Rejects a removed node that has learned of its removal, so that it cannot return with its old files. */
    private void requireMember() throws StoreDirectoryException {
        if (!Files.exists(joinedMark(config)) && membership.isWithoutThis()) {
            throw new StoreDirectoryException(
                    "node " + config.self() + " was removed from its group, which now has the nodes " + nodes()
                            + "; to add the node again, empty its directories, and start it with join"
                            + " (--cluster-join)");
        }
    }

    /** Returns the directories that may exist next to the store's directory while a snapshot replaces the store. */
    public static List<Path> adjacentDirectories(Path store) {
        return new StoreDirectories(store).adjacent();
    }

    private static void requireEmpty(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> found = Files.list(directory)) {
            if (found.findAny().isPresent()) {
                throw new StoreDirectoryException(directory + " is not empty, so this is not the first start of"
                        + " the node; start it without create (--cluster-create) and join (--cluster-join)");
            }
        }
    }

    private void propose(byte[] frame, CompletableFuture<Void> commit) {
        raft.commit(UnsafeByteOperations.unsafeWrap(frame)).whenComplete((reply, failure) -> {
            if (failure != null) {
                state.commitFailed(commit, failure);
            }
        });
    }

    /** Returns the members, as far as this node knows, in no particular order; empty while it waits to be added. */
    public List<Node> nodes() {
        return membership.nodes();
    }

    /**
     * Changes the members: a node joins, leaves, or replaces another one in the same step. A joining node must have
     * been started with {@link GroupConfig.Start#JOIN}; it receives the data of the group, and votes once it has all
     * but the last entries. A leaving node must be stopped or lost; started again, it learns of its removal and leaves.
     *
     * <p>Call this on the leader only. Returns when a majority has durably recorded the change, which may take as long
     * as copying the store. If leadership is lost before that, call this again.
     *
     * @param leaving the id of the node that leaves, or null
     * @param joining the node that joins, or null
     * @throws IllegalArgumentException if a node has the id or address of the joining node, or no majority would be
     *     reachable. Also if the leaving node does not exist, leads, or has responded within the last few seconds
     * @throws IOException if the change failed or its outcome is unknown; the message states the reason
     */
    public void changeMembers(@Nullable String leaving, @Nullable Node joining) throws IOException {
        membership.make(new MembershipChange(leaving, joining), this::responds);
    }

    private boolean responds(String node) {
        return node.equals(config.self())
                || progress().stream().anyMatch(other -> other.node().id().equals(node) && contactedRecently(other));
    }

    private boolean contactedRecently(Progress other) {
        Duration lately = config.election().compareTo(CONTACT_TIMEOUT) > 0 ? config.election() : CONTACT_TIMEOUT;
        return other.silent() != null && other.silent().compareTo(lately) < 0;
    }

    /** Returns a description of the membership change that this node, the leader, is making; empty if there is none. */
    public Optional<String> membershipChange() {
        return membership.inProgress().map(change -> change + copied(change.joining()));
    }

    private String copied(@Nullable Node joining) {
        FileProgress files = joining == null ? null : state.files(joining.id());
        return files == null
                ? ""
                : ", and has received " + files.bytes() + " of " + files.total() + " bytes of the snapshot";
    }

    /** Whether this node has stopped participating because the group has removed it. Queries the other nodes. */
    public boolean removed() {
        return !takesPart() && membership.continuesWithoutThis();
    }

    /** Returns the leader of the group, as far as this node knows. */
    public Optional<Node> leader() {
        RaftPeerId leader = info().getLeaderId();
        return nodes().stream()
                .filter(node -> leader != null && leader.equals(RaftPeerId.valueOf(node.id())))
                .findFirst();
    }

    /** Returns this node's current term, which rises with each election. */
    public long term() {
        return info().getCurrentTerm();
    }

    /** Returns the approximate number of the group's entries that this node has applied. */
    public long appliedIndex() {
        return info().getLastAppliedIndex();
    }

    /** Returns the number of entries that the group has committed, as far as this node knows. */
    long committedIndex() {
        return division().getRaftLog().getLastCommittedIndex();
    }

    /** Returns the number of entries in this node's Raft log. */
    public long keptEntries() {
        RaftLog log = division().getRaftLog();
        // An empty log has no first entry.
        return log.getLastEntryTermIndex() == null ? 0 : log.getNextIndex() - log.getStartIndex();
    }

    /**
     * The replication progress of a node of the group, as far as this node knows.
     *
     * @param committed the approximate commit index of the node
     * @param silent the time since the leader last received anything from the node; null if this node is not the
     *     leader, and for the leader itself
     * @param files the progress of the snapshot that the node receives; null if there is none, or if this node is
     *     neither the leader nor the receiver
     */
    public record Progress(
            Node node,
            long committed,
            @Nullable Duration silent,
            @Nullable FileProgress files) {}

    /** The progress of a snapshot transfer: the bytes copied, and those to copy, which grow with the store's log. */
    public record FileProgress(long bytes, long total) {
        private static final int STEPS = 4;

        /** Returns the number of completed quarters, which are logged; 0 if the transfer is complete. */
        long step() {
            return bytes * STEPS / Math.max(1, total) % STEPS;
        }
    }

    /**
     * Confirms that this node is the leader. When the future completes, the store last passed to the {@link
     * LeadershipListener} contains every write that any node of the group had acknowledged before this call. Reads of
     * that store that begin after the confirmation are linearizable.
     *
     * <p>The confirmation, an empty Raft entry that concurrent calls share, costs about as much as a write.
     *
     * <p>The future fails with an {@link IOException} if this node does not lead, leadership is lost, or no majority
     * has responded within four election timeouts. It completes on a Raft thread, which must not be blocked.
     */
    public CompletableFuture<Void> confirmLeadership() {
        return confirmations.confirm();
    }

    /** Returns the progress of the nodes; a follower knows its own, and what the leader has reported. */
    public List<Progress> progress() {
        Map<RaftPeerId, Long> committed = LocalRaft.committed(division());
        Map<RaftPeerId, Duration> silent = info().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
                .collect(Collectors.toMap(
                        follower -> RaftPeerId.valueOf(follower.getId().getId()),
                        follower -> Duration.ofMillis(follower.getLastRpcElapsedTimeMs())));
        return nodes().stream()
                .map(node -> {
                    RaftPeerId id = RaftPeerId.valueOf(node.id());
                    return new Progress(node, committed.getOrDefault(id, 0L), silent.get(id), state.files(node.id()));
                })
                .toList();
    }

    /**
     * Transfers leadership to another node. Call this on the leader only. Returns when the other node leads.
     *
     * @param timeout the maximum time, counted from the moment when a majority has confirmed that this node leads;
     *     after this time, the group elects a leader, which may be this node again
     * @throws IOException if leadership was not transferred; the message states the reason
     */
    public void transferLeadership(String node, Duration timeout) throws IOException {
        // Raft requests the transfer on the connection that transmits entries. While the other node was down, gRPC
        // lengthened the pause before each reconnection, to up to two minutes. Only a new entry ends the pause.
        Throwable failure = confirmLeadership().handle((done, failed) -> failed).join();
        if (failure == null) {
            failure = offerLeadership(node, System.nanoTime() + timeout.toNanos());
        }
        if (failure != null) {
            throw new IOException(
                    "leadership was not transferred to node " + node + ": " + failure.getMessage(), failure);
        }
    }

    /**
     * Offers leadership to another node until that node leads, and then returns null, or the time {@code end} is
     * reached. Raft sends only one request for each offer, which may be lost.
     */
    private @Nullable Throwable offerLeadership(String node, long end) throws IOException {
        while (true) {
            long begun = System.nanoTime();
            long offerMillis =
                    Math.max(1, Math.min(TRANSFER_ELECTIONS * config.election().toMillis(), millisUntil(end)));
            Throwable failure = raft.offerLeadership(node, offerMillis);
            if (failure == null || awaitLeader(end).equals(Optional.of(node))) {
                return null;
            }
            boolean timedOut = millisUntil(begun) < -offerMillis / 2;
            if (!timedOut || millisUntil(end) <= 0 || !info().isLeader()) {
                return failure;
            }
        }
    }

    /** Waits while an election is in progress, until the time {@code end} at most, and returns the leader's id. */
    private Optional<String> awaitLeader(long end) {
        while (info().getLeaderId() == null && millisUntil(end) > 0) {
            LockSupport.parkNanos(LEADER_PAUSE_NANOS);
        }
        return Optional.ofNullable(info().getLeaderId()).map(RaftPeerId::toString);
    }

    private static long millisUntil(long nanoTime) {
        return TimeUnit.NANOSECONDS.toMillis(nanoTime - System.nanoTime());
    }

    /**
     * Prevents this node from leading, for example during maintenance, until {@code drain(false)} or a restart. If this
     * node leads or is elected, it transfers leadership. If no other node can lead, this node leads anyway.
     *
     * @return false if this node leads now
     */
    public boolean drain(boolean now) {
        drained = now;
        return !info().isLeader() || now && handOver();
    }

    /** Whether this node is prevented from leading. */
    public boolean drained() {
        return drained;
    }

    /** Transfers leadership to the most up-to-date reachable follower. Returns whether another node leads. */
    public boolean handOver() {
        Optional<Progress> mostUpToDate = progress().stream()
                .filter(other -> !other.node().id().equals(config.self()))
                .filter(this::contactedRecently)
                .max(Comparator.comparingLong(Progress::committed));
        if (mostUpToDate.isEmpty()) {
            return false;
        }
        try {
            transferLeadership(mostUpToDate.get().node().id(), TRANSFER_TIMEOUT);
            return true;
        } catch (IOException rejected) {
            LOG.info("{}: leadership was not transferred: {}", config.self(), rejected.getMessage());
            return false;
        }
    }

    /** Whether this node participates in its group. If it has left on its own, it must be closed and started again. */
    public boolean takesPart() {
        try {
            return raft.division().getInfo().isAlive();
        } catch (IOException gone) {
            return false;
        }
    }

    private DivisionInfo info() {
        return division().getInfo();
    }

    private RaftServer.Division division() {
        return raft.joinedDivision();
    }

    /** Stops this node: the listener releases the store, which is then closed. Another node takes over leadership. */
    @Override
    public void close() throws IOException {
        monitor.close();
        state.stopRetries();
        server.close();
        state.awaitLeft();
    }
}
