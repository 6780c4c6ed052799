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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This host's part in a group: votes, keeps the Raft log, and has a replica of the store. Tells the listener when the
 * store may be used. Any thread may ask and close it.
 */
public final class GroupMember implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GroupMember.class);
    /** How long another host may take to become the leader. */
    private static final Duration HAND_OVER = Duration.ofSeconds(2);
    /** A host that has answered so lately can be reached, or within an election's time if that is longer. */
    private static final Duration HEARD = Duration.ofSeconds(2);
    /** A leader without a majority notices it after two. */
    private static final int CONFIRMATION_ELECTIONS = 4;

    private final GroupConfig config;
    private final RaftServer server;
    private final RaftGroupId groupId;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong();
    private final GroupStateMachine state;
    private final Membership membership;
    private final Confirmations confirmations;
    /** How many entries this host has proposed whose fate it does not know yet. */
    private final AtomicInteger underWay = new AtomicInteger();

    private final LeaderWatch watch;
    private volatile boolean drained;

    private GroupMember(GroupConfig config, LeadershipListener listener) throws IOException {
        this.config = config;
        this.groupId = RaftGroupId.valueOf(config.group());
        this.state = new GroupStateMachine(config, listener, this::propose, () -> drained && handOver());
        this.server = RaftServer.newBuilder()
                .setServerId(RaftPeerId.valueOf(config.self()))
                .setGroup(RaftGroup.valueOf(groupId, firstHosts(config)))
                .setStateMachine(state)
                .setProperties(RaftSettings.properties(config))
                .setParameters(RaftSettings.hostParameters(config))
                .setOption(
                        config.start() == GroupConfig.Start.AGAIN
                                ? RaftStorage.StartupOption.RECOVER
                                : RaftStorage.StartupOption.FORMAT)
                .build();
        this.membership = new Membership(config, server);
        this.confirmations = new Confirmations(
                config.self(),
                this::commitEmptyEntry,
                CONFIRMATION_ELECTIONS * config.election().toMillis());
        this.watch = new LeaderWatch(
                config, server, groupId, state, membership, () -> underWay.get() > 0, this::commitEmptyEntry);
    }

    /** The hosts of a new group, which its log has from the first leader on. Who joins knows from the log only. */
    private static List<RaftPeer> firstHosts(GroupConfig config) {
        return Files.exists(joinedMark(config))
                ? List.of()
                : config.hosts().stream().map(Membership::peer).toList();
    }

    /** Is there when the host has joined a group, and so must not vote before the group says that it may. */
    private static Path joinedMark(GroupConfig config) {
        return config.raftDirectory().resolve("joined");
    }

    /**
     * Starts this host's part. Returns before there is a leader.
     *
     * @throws StoreDirectoryException when the directories are empty and it is not the first start, or are not and it is,
     *     or hold another group's or store's files; or when it is the first start of a host that is one of the group
     *     already, or whose settings do not fit those of the others
     * @throws IOException when Raft cannot read its log or listen on its address, or when the host joins and none of the
     *     others answers
     */
    public static GroupMember start(GroupConfig config, LeadershipListener listener) throws IOException {
        requireRightStart(config);
        if (config.start() == GroupConfig.Start.AGAIN) {
            RaftMetaStart.prepare(config.raftDirectory().resolve(config.group().toString()), config.self());
        }
        GroupMember member = new GroupMember(config, listener);
        try {
            member.server.start();
            member.requireMember();
            member.watch.start();
        } catch (IOException | RuntimeException failed) {
            member.close();
            throw failed;
        }
        return member;
    }

    /**
     * Reads every byte of the replica of a host that is stopped, and reports every fault. What a power cut has taken of
     * the log, and the host hears again when it is started, is none.
     *
     * @param store the replica's directory
     * @param raftDirectory the host's; without a Raft log in it, nothing of the store counts as heard again
     * @throws io.caravan.StoreLockedException when the host runs
     * @throws StoreDirectoryException when there is no store
     * @throws IOException when the Raft directory cannot be read
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
            AppliedMark.Applied durable = new AppliedMark(marks.get()).durable();
            return Replica.verify(store, durable == null ? 0 : durable.endLsn(), progress);
        }
    }

    private static void requireRightStart(GroupConfig config) throws IOException {
        boolean joined =
                Files.isDirectory(config.raftDirectory().resolve(config.group().toString()));
        if (config.start() != GroupConfig.Start.AGAIN) {
            requireEmpty(config.raftDirectory());
            requireEmpty(config.store().directory());
            for (Path left : foldersBeside(config.store().directory())) {
                requireEmpty(left);
            }
        } else if (!joined) {
            throw new StoreDirectoryException(config.raftDirectory() + " has no Raft log of group " + config.group()
                    + ". If the group is new, say so on each host's first start (create), and if the host is new in its"
                    + " group, say that it joins. If this host has lost its"
                    + " files, it must come back under another id: it no longer knows what it has acknowledged");
        }
        if (config.start() == GroupConfig.Start.JOIN) {
            Membership.requireNewcomer(config);
        }
        if (config.start() != GroupConfig.Start.AGAIN) {
            Membership.requireFirstStart(config);
        }
        if (!Files.exists(config.raftDirectory())) {
            Files.createDirectories(config.raftDirectory());
            Folders.force(config.raftDirectory().resolveSibling("."));
        }
        if (config.start() == GroupConfig.Start.JOIN) {
            Files.createFile(joinedMark(config));
            Folders.force(config.raftDirectory());
        }
    }

    /** A host that was removed, and heard of it, is not let back in with what it had. */
    private void requireMember() throws StoreDirectoryException {
        if (!Files.exists(joinedMark(config)) && membership.isWithoutThis()) {
            throw new StoreDirectoryException(
                    "host " + config.self() + " was removed from its group, which has the hosts " + hosts()
                            + " now; to bring it back, empty its directories, and let it join");
        }
    }

    private boolean isThis(Host host) {
        return host.id().equals(config.self());
    }

    /** What may lie beside the store's folder, while the store is replaced by another host's files. */
    public static List<Path> foldersBeside(Path store) {
        return new Folders(store).beside();
    }

    private static void requireEmpty(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> found = Files.list(directory)) {
            if (found.findAny().isPresent()) {
                throw new StoreDirectoryException(directory + " is not empty, so this is not the first start of a"
                        + " host in its group; start it without create (--cluster-create) or join (--cluster-join)");
            }
        }
    }

    private void propose(byte[] frame, Proposal proposal) {
        commit(UnsafeByteOperations.unsafeWrap(frame)).whenComplete((reply, failure) -> {
            if (failure != null) {
                state.proposalFailed(proposal, failure);
            }
        });
    }

    private CompletableFuture<Void> commitEmptyEntry() {
        return commit(ByteString.EMPTY);
    }

    /** Done when the group has committed the entry, in this host's term, and this host has applied it. */
    private CompletableFuture<Void> commit(ByteString entry) {
        CompletableFuture<Void> committed = new CompletableFuture<>();
        underWay.incrementAndGet();
        committed.whenComplete((done, failed) -> underWay.decrementAndGet());
        try {
            server.submitClientRequestAsync(request(entry)).whenComplete((reply, problem) -> {
                Throwable failure = problem != null ? problem : failure(reply);
                if (failure == null) {
                    committed.complete(null);
                } else {
                    committed.completeExceptionally(failure);
                }
            });
        } catch (IOException | RuntimeException failed) {
            committed.completeExceptionally(failed);
        }
        return committed;
    }

    private static @Nullable Throwable failure(RaftClientReply reply) {
        if (reply.isSuccess()) {
            return null;
        }
        Throwable exception = reply.getException();
        return exception != null ? exception : new IOException("Raft refused the entry: " + reply);
    }

    /** Each is a call of its own: nothing is ever sent again, as its fate would be unknown. */
    private RaftClientRequest request(ByteString frame) {
        return RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(server.getId())
                .setGroupId(groupId)
                .setCallId(calls.incrementAndGet())
                .setMessage(Message.valueOf(frame))
                .setType(RaftClientRequest.writeRequestType())
                .build();
    }

    /** The hosts of the group, as far as this one knows; in no order. Empty while this one waits to be added. */
    public List<Host> hosts() {
        return membership.hosts();
    }

    /**
     * Adds a host that has been started to {@linkplain GroupConfig.Start#JOIN join}. It is sent what the group has, and
     * votes once it has all but the last entries. Only on the leader. Returns when the host is one of the group, which the
     * majority knows for good; that may take as long as to copy the store. If leadership is lost before, ask again.
     *
     * @throws IllegalArgumentException when there is a host with this id or address, or the majority would not be reachable
     * @throws IOException when it did not come to it, with the reason
     */
    public void add(Host host) throws IOException {
        membership.make(new HostChange(null, host), this::answers);
    }

    /**
     * Removes a host that has been stopped; if it is started again it hears of it, and leaves by itself. Only on the
     * leader; as {@link #add}.
     *
     * @throws IllegalArgumentException when there is no such host, it has answered within the last seconds, it is the one
     *     that leads, or the majority would not be reachable
     */
    public void remove(String host) throws IOException {
        membership.make(new HostChange(host, null), this::answers);
    }

    /** Adds a host in the place of one that has been stopped or is lost; as {@link #add} and {@link #remove}, in one step. */
    public void replace(String host, Host by) throws IOException {
        membership.make(new HostChange(host, by), this::answers);
    }

    private boolean answers(String host) {
        return host.equals(config.self())
                || progress().stream().anyMatch(other -> other.host().id().equals(host) && heardLately(other));
    }

    private boolean heardLately(Progress other) {
        Duration lately = config.election().compareTo(HEARD) > 0 ? config.election() : HEARD;
        return other.silent() != null && other.silent().compareTo(lately) < 0;
    }

    /** What this host, which leads, changes about the group's hosts at the moment, in words; empty when it is nothing. */
    public Optional<String> hostChange() {
        return membership.underWay().map(change -> change + copied(change.joining()));
    }

    private String copied(@Nullable Host joining) {
        FileProgress files = joining == null ? null : state.files(joining.id());
        return files == null ? "" : ", and has " + files.bytes() + " of " + files.total() + " bytes of the files";
    }

    /** Whether the group has gone on without this host, which takes part no longer. Asks the others. */
    public boolean removed() {
        return !takesPart() && membership.goesOnWithoutThis();
    }

    /** The host that leads the group, as far as this one knows. */
    public Optional<Host> leader() {
        RaftPeerId leader = info().getLeaderId();
        return hosts().stream()
                .filter(host -> leader != null && leader.equals(RaftPeerId.valueOf(host.id())))
                .findFirst();
    }

    /** The term that this host knows of: it rises with each election. */
    public long term() {
        return info().getCurrentTerm();
    }

    /** How many entries of the group this host has applied, about. */
    public long appliedIndex() {
        return info().getLastAppliedIndex();
    }

    /** How many entries the group has committed, as far as this host has heard. */
    public long committedIndex() {
        return division().getRaftLog().getLastCommittedIndex();
    }

    /** How many entries this host's Raft log keeps. */
    public long keptEntries() {
        RaftLog log = division().getRaftLog();
        // An empty log has no start.
        return log.getLastEntryTermIndex() == null ? 0 : log.getNextIndex() - log.getStartIndex();
    }

    /**
     * How far a host is, as this one knows.
     *
     * @param committed the entries that it is known to have been told are committed, about
     * @param silent since the leader last heard from it; null when this host is not the leader, or the host is this one
     * @param files what it has of the files that it is sent, because it is behind what the Raft log keeps; null when it is
     *     sent none, as far as this host knows, which the leader and the host itself do
     */
    public record Progress(
            Host host,
            long committed,
            @Nullable Duration silent,
            @Nullable FileProgress files) {}

    /**
     * How far the copying of a store has come.
     *
     * @param bytes copied
     * @param total that there are to copy, which grows with the store's log
     */
    public record FileProgress(long bytes, long total) {}

    /**
     * Makes sure that this host leads. When the future is done, the store that the {@link LeadershipListener} was given
     * last shows every change that any host of the group had acknowledged before this was called: reads of it that begin
     * then are linearizable. (Without this, a leader that was replaced and does not know it yet shows what was true
     * before.) It waits until the majority has an empty entry of the Raft log on disk, which all who ask at the same time
     * share; so it costs about as much as a write.
     *
     * <p>Fails with an {@link IOException} when this host does not lead, leadership is lost, or no majority has answered
     * within four election timeouts. Completes on a thread of Raft's, which must not be blocked.
     */
    public CompletableFuture<Void> confirmLeadership() {
        return confirmations.confirm();
    }

    /** How far the hosts are. The leader knows of all, a follower of itself and what the leader has told it. */
    public List<Progress> progress() {
        Map<RaftPeerId, Long> committed = RaftView.committed(division());
        Map<RaftPeerId, Duration> silent = info().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
                .collect(Collectors.toMap(
                        heard -> RaftPeerId.valueOf(heard.getId().getId()),
                        heard -> Duration.ofMillis(heard.getLastRpcElapsedTimeMs())));
        return hosts().stream()
                .map(host -> {
                    RaftPeerId id = RaftPeerId.valueOf(host.id());
                    return new Progress(host, committed.getOrDefault(id, 0L), silent.get(id), state.files(host.id()));
                })
                .toList();
    }

    /**
     * Has another host lead, once it has every entry. Only on the leader. Returns when it leads.
     *
     * @param timeout how long it may take, once the majority has confirmed that this host leads; after that the group has
     *     the leader that it elects, which may be this host again
     * @throws IOException when it did not come to it, with the reason
     */
    public void transferLeadership(String host, Duration timeout) throws IOException {
        // Raft asks the other host on the connection that carries entries. While that host was away, gRPC waited longer
        // and longer, in the end two minutes, before it tried the connection again. Only an entry ends the wait.
        Throwable failure = confirmLeadership().handle((done, failed) -> failed).join();
        if (failure == null) {
            failure = failure(server.transferLeadership(new TransferLeadershipRequest(
                    client,
                    server.getId(),
                    groupId,
                    calls.incrementAndGet(),
                    RaftPeerId.valueOf(host),
                    timeout.toMillis())));
        }
        if (failure != null) {
            throw new IOException("leadership was not handed to host " + host + ": " + failure.getMessage(), failure);
        }
    }

    /**
     * Keeps leadership away from this host, as for its maintenance, until this is undone or the host is started again: if
     * it leads it hands leadership over, and when it is elected again, too. If no other host can lead, this one does.
     *
     * @return whether this host does not lead now
     */
    public boolean drain(boolean now) {
        drained = now;
        return !info().isLeader() || now && handOver();
    }

    /** Whether leadership is kept away from this host. */
    public boolean drained() {
        return drained;
    }

    /**
     * Has the host that is furthest lead, of those that the leader, this one, has heard of lately: sooner than an election,
     * which the others would hold if this one left. Returns whether another leads.
     */
    public boolean handOver() {
        Optional<Progress> furthest = progress().stream()
                .filter(other -> !isThis(other.host()))
                .filter(this::heardLately)
                .max(Comparator.comparingLong(Progress::committed));
        if (furthest.isEmpty()) {
            return false;
        }
        try {
            transferLeadership(furthest.get().host().id(), HAND_OVER);
            return true;
        } catch (IOException refused) {
            LOG.info("{}: leadership was not handed over: {}", config.self(), refused.getMessage());
            return false;
        }
    }

    /**
     * Whether this host still takes part. False when it is closed, or has left by itself because it lacks a frame: close
     * it and start it again.
     */
    public boolean takesPart() {
        try {
            return server.getDivision(groupId).getInfo().isAlive();
        } catch (IOException gone) {
            return false;
        }
    }

    private DivisionInfo info() {
        return division().getInfo();
    }

    private RaftServer.Division division() {
        try {
            return server.getDivision(groupId);
        } catch (IOException gone) {
            throw new IllegalStateException("host " + config.self() + " has left the group", gone);
        }
    }

    /** Stops: the listener lets go of the store, which is closed. Another host takes over leadership. */
    @Override
    public void close() throws IOException {
        watch.close();
        state.giveUp();
        server.close();
        state.awaitLeft();
    }
}
