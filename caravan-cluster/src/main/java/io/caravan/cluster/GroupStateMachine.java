package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.Replica;
import io.caravan.cluster.AppliedIndex.Applied;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.ProtoUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Raft state machine of this node. Raft passes it the committed entries, one after another, and notifies it whether
 * this node leads. Each entry contains a frame or is empty. A follower replays the frame. On the leader, the store
 * waits until the group has committed the frame.
 *
 * <p>When leadership is lost, the store is closed and reopened as a follower, which discards the writes that it
 * accepted but the group did not commit. Role changes run one at a time on a dedicated thread. Code that uses the
 * replica holds this object's lock.
 */
final class GroupStateMachine extends BaseStateMachine implements SnapshotSender.Source, SnapshotReceiver.Target {
    private static final Logger LOG = LoggerFactory.getLogger(GroupStateMachine.class);
    private static final long STOP_SECONDS = 30;

    private final GroupConfig config;
    private final LeadershipListener listener;
    private final BiConsumer<byte[], CompletableFuture<Void>> propose;
    private final BooleanSupplier drained;
    private final BooleanSupplier handOver;
    private final ExecutorService roles;
    /** Purges the Raft log. A purge waits for a checkpoint in progress, but a role change must not wait. */
    private final ExecutorService purges;

    private final SnapshotSender sender;
    private final SnapshotReceiver receiver;

    /** Null until Raft initializes this object. */
    private volatile @Nullable Parts parts;
    /** The LSN at which the last applied frame ends in the store's log. */
    private long appliedLsn;
    /** The replicator of the term in which the replica leads, or null. Set under the lock, and read also without it. */
    private volatile @Nullable RaftFrameReplicator leading;

    private volatile boolean closing;
    /** The thread that closes this node when the node leaves the group; null while the node participates. */
    private final AtomicReference<@Nullable Thread> leaver = new AtomicReference<>();

    /** The parts that need the directories that Raft provides; {@code ownFiles} has the node's own small files. */
    record Parts(
            LocalRaft raft,
            Path ownFiles,
            GroupReplica replica,
            AppliedIndex mark,
            SeenNodes seen,
            RaftLogPurger purger) {}

    /** Creates the state machine; {@code handOver} transfers leadership, and returns whether another node leads. */
    GroupStateMachine(
            GroupConfig config,
            LeadershipListener listener,
            BiConsumer<byte[], CompletableFuture<Void>> propose,
            BooleanSupplier drained,
            BooleanSupplier handOver) {
        this.config = config;
        this.listener = listener;
        this.propose = propose;
        this.drained = drained;
        this.handOver = handOver;
        this.roles =
                Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "caravan-roles " + config.self()));
        // A queued purge also does the work of all purges requested after it.
        this.purges = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(1),
                task -> new DaemonThread(task, "caravan-purge " + config.self()),
                new ThreadPoolExecutor.DiscardPolicy());
        this.sender = new SnapshotSender(config.self(), this);
        this.receiver = new SnapshotReceiver(config, () -> closing, this);
    }

    @Override
    public synchronized void initialize(RaftServer server, RaftGroupId group, RaftStorage storage) throws IOException {
        super.initialize(server, group, storage);
        Path segments = storage.getStorageDir().getCurrentDir().toPath();
        Path own = storage.getStorageDir().getStateMachineDir().toPath();
        AppliedIndex mark = new AppliedIndex(own);
        SeenNodes seen = new SeenNodes(own);
        RaftSegments.repair(segments, mark.durable());
        parts = new Parts(
                new LocalRaft(server, group),
                own,
                new GroupReplica(config, mark, () -> closing),
                mark,
                seen,
                new RaftLogPurger(segments, config.keptLogBytes()));
        Applied durable = mark.durable();
        if (durable != null) {
            resumeAfter(durable);
        }
        getLifeCycle().startAndTransition(() -> {});
    }

    private void resumeAfter(Applied durable) {
        setLastAppliedTermIndex(durable.entry());
        appliedLsn = durable.endLsn();
    }

    @Override
    public @Nullable SnapshotInfo getLatestSnapshot() {
        Parts known = parts;
        return known == null ? null : known.mark().reported();
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        TermIndex place = TermIndex.valueOf(entry);
        if (apply(place, entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer())) {
            updateLastAppliedTermIndex(place);
        }
        return CompletableFuture.completedFuture(Message.EMPTY);
    }

    /**
     * Applies an entry (after a role change if necessary), and returns whether it was applied. Entries that are not
     * applied because this node is leaving or closing are replayed from the Raft log at the next start.
     */
    private boolean apply(TermIndex place, ByteBuffer bytes) {
        try {
            FrameEntry entry = bytes.hasRemaining() ? FrameEntry.decode(place.toString(), bytes) : null;
            // Once the node is closing, its role no longer changes. No entry may be applied after an unapplied entry.
            while (!closing && leaver.get() == null) {
                if (applied(place, entry)) {
                    return true;
                }
                // This is an entry of another leader: this node no longer leads, but has not been notified yet.
                resign("another node leads the group");
                awaitRole();
            }
        } catch (IllegalStateException lacking) {
            leave(lacking);
        }
        return false;
    }

    /** Applies an entry in the current role. Returns false if the replica leads, and must become a follower first. */
    private synchronized boolean applied(TermIndex place, @Nullable FrameEntry entry) {
        if (entry != null) {
            RaftFrameReplicator term = leading;
            if (term != null && !term.committed(entry.frame())) {
                return false;
            }
            // An earlier frame occupies the position of a skipped frame, so the store lacks nothing.
            if (term == null && !parts().replica().replay(place.toString(), entry)) {
                return true;
            }
            appliedLsn = FrameEntry.endLsn(entry.frame());
        }
        // An entry without a frame changes nothing in the store. It still advances the applied index, so that the log
        // of an idle group is purged.
        parts().mark().applied(place, appliedLsn);
        if (parts().purger().due(appliedLsn)) {
            purges.execute(this::dropLog);
        }
        return true;
    }

    /** Waits until the role changes requested so far are complete. */
    private void awaitRole() {
        try {
            roles.submit(() -> {}).get();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } catch (RejectedExecutionException closed) {
            throw new IllegalStateException(config.self() + " is closing", closed);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(config.self() + " is closing", hurried);
        }
    }

    private Parts parts() {
        Parts known = parts;
        if (known == null) {
            throw new IllegalStateException("Raft has not initialized the group's state yet");
        }
        return known;
    }

    /** Fsyncs the replica, and purges the entries of the Raft log that are no longer needed. */
    private void dropLog() {
        try {
            long durable = markForced().entry().getIndex();
            LocalRaft known = parts().raft();
            RaftServer.Division division = known.division();
            Map<RaftPeerId, Long> committed = LocalRaft.committed(division);
            sender.forget(durable, node -> committed.getOrDefault(RaftPeerId.valueOf(node), -1L), known::isGone);
            parts().purger().drop(division, durable, sender.firstNeeded());
        } catch (IOException | CaravanException failed) {
            // The replica of a closing node is already closed.
            if (!closing) {
                LOG.warn(
                        "{}: cannot purge its Raft log now, and tries again later: {}",
                        config.self(),
                        failed.getMessage());
            }
        }
    }

    /** Fsyncs the replica, and advances the applied index. Returns the entry up to which the files are complete. */
    private Applied markForced() throws IOException {
        replica().fsync();
        synchronized (this) {
            parts().mark().forced(replica().fsyncedPosition());
            Applied durable = parts().mark().durable();
            if (durable == null) {
                throw new IOException("no frame has been fsynced yet");
            }
            return durable;
        }
    }

    /** Handles requests of lagging nodes for a snapshot, and of newly started nodes for {@link NodeFacts}. */
    @Override
    public CompletableFuture<Message> query(Message request) {
        if (NodeFacts.isQuestion(request.getContent())) {
            noteNodes();
            boolean seen = parts().seen().has(NodeFacts.sender(request.getContent()));
            NodeFacts facts = new NodeFacts(FrameEntry.FORMAT_LEVEL, replica().logSegmentBytes(), seen);
            return CompletableFuture.completedFuture(Message.valueOf(facts.encode()));
        }
        return sender.request(request.getContent(), parts().raft()::isFollower).thenApply(Message::valueOf);
    }

    /** Records the ids of the other nodes that have received entries of the group. */
    void noteNodes() {
        try {
            parts().seen()
                    .add(LocalRaft.committed(parts().raft().division()).entrySet().stream()
                            .filter(node -> node.getValue() > 0)
                            .map(node -> node.getKey().toString())
                            .toList());
        } catch (IOException failed) {
            LOG.warn("{}: cannot record which nodes have received entries of the Raft group", config.self(), failed);
        }
    }

    /** Receives a snapshot from the leader. Called when this node joins or lags behind the retained Raft log. */
    @Override
    public CompletableFuture<@Nullable TermIndex> notifyInstallSnapshotFromLeader(RoleInfoProto role, TermIndex first) {
        if (first.getIndex() <= 0) {
            // Raft calls this for every joining node. The leader still has its entire log, so this node replays that
            // log.
            return CompletableFuture.completedFuture(null);
        }
        RaftPeerProto leader = role.getFollowerInfo().getLeaderInfo().getId();
        return receiver.receive(ProtoUtils.toRaftPeer(leader));
    }

    @Override
    public Replica replica() {
        return parts().replica().now();
    }

    @Override
    public Applied start(OutgoingSnapshot copy) throws IOException {
        markForced();
        // Excludes dropLog(), which could purge an entry between these two calls.
        synchronized (this) {
            Applied start = Objects.requireNonNull(parts().mark().durable());
            copy.startAt(start);
            return start;
        }
    }

    @Override
    public synchronized Path begin() throws IOException {
        return parts().replica().beginIncoming();
    }

    @Override
    public synchronized void install(Path received, Applied copied) throws IOException {
        if (leading != null || closing) {
            throw new IOException("this node " + (closing ? "is closing" : "is now the leader"));
        }
        parts().replica().install(received, copied);
    }

    /** Returns the progress of a node's incoming snapshot, as far as known; null if there is none. */
    GroupMember.@Nullable FileProgress files(String node) {
        return (node.equals(config.self()) ? receiver.progress() : sender.progress(node)).orElse(null);
    }

    /** Called when a received snapshot has replaced the store, before Raft drops its log. */
    @Override
    public void pause() {
        parts().mark().markReported();
        getLifeCycle().transition(LifeCycle.State.PAUSING);
        getLifeCycle().transition(LifeCycle.State.PAUSED);
    }

    /** Resumes the application of entries after a snapshot was received. Called on the thread that applies entries. */
    @Override
    public synchronized void reinitialize() {
        resumeAfter(Objects.requireNonNull(parts().mark().durable()));
        getLifeCycle().startAndTransition(() -> {});
    }

    /**
     * Checks, once per election timeout, whether Raft has installed a received snapshot. If the leader fails before
     * that, and the next leader does not require a snapshot, no leader requests the installation. This node then
     * accepts no entries, and leaves. After a restart, it continues from the snapshot.
     *
     * @param maxChecks the number of checks after which the node leaves
     */
    void checkSnapshotProgress(int maxChecks) {
        if (parts().mark().isOverdue(maxChecks)) {
            leave(new IllegalStateException(
                    "node " + config.self() + " has received a snapshot, but no leader requests its installation"));
        }
    }

    @Override
    public TransactionContext startTransaction(RaftClientRequest request) {
        return TransactionContext.newBuilder()
                .setStateMachine(this)
                .setClientRequest(request)
                .setLogData(request.getMessage().getContent())
                .build();
    }

    @Override
    public void notifyLeaderReady() {
        inTurn(this::becomeLeader);
    }

    @Override
    public void notifyNotLeader(Collection<TransactionContext> pending) {
        resign("leadership is lost");
    }

    /** Handles a change of leader. A new leader is called before the other nodes are notified. */
    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (!leader.equals(member.getPeerId())) {
            resign("node " + leader + " leads the group");
            parts().raft().endConnections();
            return;
        }
        // This node has voted for itself. If this throws, Raft ends this node's participation.
        try {
            RaftRpcGuard.force(RaftRpcGuard.votes(config));
        } catch (IOException failed) {
            IllegalStateException lost =
                    new IllegalStateException("cannot fsync the vote of node " + config.self(), failed);
            leave(lost);
            throw lost;
        }
    }

    /** Ends the current term if the store is waiting for this commit, which has failed or has an unknown outcome. */
    void commitFailed(CompletableFuture<Void> commit, Throwable problem) {
        RaftFrameReplicator term = leading;
        if (term != null && term.waitsFor(commit)) {
            resign("a frame was not committed: " + problem.getMessage());
        }
        commit.completeExceptionally(problem);
    }

    /** Abandons the current term of leadership. Takes no lock, because a thread that this call unblocks may hold it. */
    private void resign(String why) {
        RaftFrameReplicator term = leading;
        if (term != null) {
            term.abandon(new IOException(why));
            inTurn(this::becomeFollower);
        }
    }

    /** Runs a role change after all role changes requested earlier. Does nothing if the node is closing. */
    private void inTurn(Runnable change) {
        try {
            roles.execute(() -> guarded(change));
        } catch (RejectedExecutionException closed) {
            LOG.debug("{} is closing: its role no longer changes", config.self(), closed);
        }
    }

    /** Runs a role change. If it fails, this node leaves the group, and is no leader that serves no requests. */
    private void guarded(Runnable change) {
        try {
            change.run();
        } catch (RuntimeException | Error broken) {
            if (closing) {
                LOG.error("{}: did not close cleanly", config.self(), broken);
            }
            leave(new IllegalStateException("node " + config.self() + " cannot change its role", broken));
        }
    }

    private void becomeLeader() {
        if (!closing && parts().raft().isLeaderReady() && drained.getAsBoolean() && handOver.getAsBoolean()) {
            return;
        }
        Replica leader;
        RaftFrameReplicator term;
        boolean leads = true;
        boolean opened = false;
        synchronized (this) {
            if (closing || leading != null || !parts().raft().isLeaderReady()) {
                return;
            }
            leader = replica();
            if (leader.position() < appliedLsn) {
                leave(new IllegalStateException(
                        "node " + config.self() + " had applied the entries of its group up to LSN " + appliedLsn
                                + ", but its store now ends at LSN " + leader.position()));
                return;
            }
            int segmentBytes = leader.logSegmentBytes();
            term = new RaftFrameReplicator(propose, frame -> new FrameEntry(frame, segmentBytes).encode());
            try {
                leader.lead(term);
                leading = term;
            } catch (CaravanException problem) {
                // The store failed while this node followed, and no frame has arrived since then.
                leads = false;
                opened = parts().replica().tryReopenAfter(problem);
            }
        }
        if (!leads) {
            if (!opened) {
                // Another node may be able to lead until this node can read its disk again.
                boolean other = handOver.getAsBoolean();
                LOG.info("{}: cannot lead without its store; another node leads: {}", config.self(), other);
                reopen(leader);
            }
            inTurn(this::becomeLeader);
            return;
        }
        LOG.info("{} leads its group", config.self());
        try {
            listener.leads(leader.store());
        } catch (CaravanException failed) {
            // The end of a term also makes the store fail. After any other failure, another node must take over.
            if (!term.isAbandoned()) {
                throw failed;
            }
            LOG.info("{}: its term ended before the store was served", config.self(), failed);
        }
        if (!parts().raft().isLeaderReady()) {
            resign("leadership was lost in the meantime");
        }
    }

    /** Reopens this replica, unless the thread that applies entries has already done so. */
    private synchronized void reopen(Replica closed) {
        if (replica() == closed) {
            parts().replica().reopen();
        }
    }

    private synchronized void becomeFollower() {
        RaftFrameReplicator term = leading;
        if (closing || term == null || !term.isAbandoned()) {
            return;
        }
        LOG.info("{} follows", config.self());
        sender.stop("this node is no longer the leader");
        endLeading();
        GroupReplica follower = parts().replica();
        follower.reopen();
        ByteBuffer last = term.lastCommitted();
        if (last != null && !closing) {
            try {
                follower.replay(
                        "of the last frame that it led",
                        new FrameEntry(last, replica().logSegmentBytes()));
            } catch (IllegalStateException lacking) {
                leave(lacking);
                return;
            }
        }
        // Raft may still consider this node the leader if only its store has failed.
        inTurn(this::becomeLeader);
    }

    /** Ends this node's role as the leader; the listener must then release the store. */
    private void endLeading() {
        try {
            listener.follows();
        } finally {
            leading = null;
        }
    }

    /**
     * Records the committed members of the group. Raft calls this before it applies a later entry, and while this node
     * receives a snapshot. If the members cannot be recorded, this node leaves the group, so that it neither purges
     * the entry nor installs the snapshot.
     */
    @Override
    public void notifyConfigurationChanged(long term, long index, RaftConfigurationProto nodes) {
        try {
            RaftMetadataRepair.keepNodes(
                    parts().ownFiles(),
                    LogEntryProto.newBuilder()
                            .setTerm(term)
                            .setIndex(index)
                            .setConfigurationEntry(nodes)
                            .build());
        } catch (IOException failed) {
            leave(new IllegalStateException(
                    "node " + config.self() + " cannot record the members of its group", failed));
        }
    }

    /** Leaves the group, because Raft does not write its log again, even after the cause is fixed. */
    @Override
    public void notifyLogFailed(Throwable cause, @Nullable LogEntryProto entry) {
        leave(new IllegalStateException("Raft cannot write the log of node " + config.self(), cause));
    }

    /**
     * Ends this node's participation until the node is restarted; the group considers the node lost. A node whose store
     * has lost data therefore neither leads nor votes before it has replayed that data.
     */
    private void leave(IllegalStateException why) {
        // Closing waits for the threads that change roles and apply entries, and this thread is one of them.
        Thread thread = new DaemonThread(this::endPart, "caravan-leave " + config.self());
        if (!closing && leaver.compareAndSet(null, thread)) {
            LOG.error("{}: leaves its group; restart it", config.self(), why);
            stopRetries();
            thread.start();
        }
    }

    /** Stops all retry loops and prevents new ones. Raft cannot shut down while a retry loop is running. */
    void stopRetries() {
        closing = true;
    }

    /** Waits until a node that has left its group on its own is closed; fails if that takes longer than a minute. */
    void awaitLeft() throws IOException {
        Thread thread = leaver.get();
        if (thread == null) {
            return;
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(2 * STOP_SECONDS));
            if (thread.isAlive()) {
                throw new IOException(
                        config.self() + " has left its group, but was not closed within " + 2 * STOP_SECONDS + " s");
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }

    private void endPart() {
        try {
            parts().raft().division().close();
        } catch (IOException gone) {
            LOG.debug("{}: has already left its group", config.self(), gone);
        }
    }

    /** Returns the progress of the group, as seen by this leader, which waits while its replica is not leading. */
    StallDetector.Progress progress(boolean waits) throws IOException {
        RaftServer.Division division = parts().raft().division();
        // Null if leadership was just lost.
        long[] others = division.getInfo().getFollowerMatchIndices();
        return new StallDetector.Progress(
                waits || leading == null,
                division.getInfo().getLastAppliedIndex(),
                division.getRaftLog().getNextIndex() - 1,
                others == null ? List.of() : Arrays.stream(others).boxed().toList(),
                sender.sentBytes());
    }

    @Override
    public String toStateMachineLogEntryString(StateMachineLogEntryProto entry) {
        return "a frame of " + entry.getLogData().size() + " bytes";
    }

    @Override
    public void close() throws IOException {
        closing = true;
        RaftFrameReplicator term = leading;
        if (term != null) {
            term.abandon(new IOException("the node is closing"));
        }
        sender.stop("the node is closing");
        inTurn(this::finish);
        roles.shutdown();
        purges.shutdown();
        try {
            receiver.awaitEnd(STOP_SECONDS);
            if (!roles.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)
                    || !purges.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(config.self() + " did not close its replica within " + STOP_SECONDS + " s");
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        super.close();
    }

    private synchronized void finish() {
        try {
            if (leading != null) {
                endLeading();
            }
        } finally {
            if (parts != null) {
                parts().replica().close();
            }
        }
    }
}
