package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.Replica;
import io.caravan.cluster.AppliedMark.Applied;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.ProtoUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Raft tells this host: the committed entries, one after another, and whether it leads. Each entry is a frame, or
 * empty. A follower repeats the frame; the leader's own store waits for it.
 *
 * <p>When leadership is lost the store is closed, and opened anew as a follower: what it accepted and the group did not
 * commit is gone with its memory. Changes of role take turns on a thread of their own; whoever uses the replica holds
 * this object's lock.
 */
final class GroupStateMachine extends BaseStateMachine {
    private static final Logger LOG = LoggerFactory.getLogger(GroupStateMachine.class);
    private static final long STOP_SECONDS = 30;

    private final GroupConfig config;
    private final LeadershipListener listener;
    private final BiConsumer<byte[], Proposal> propose;
    private final BooleanSupplier givesWay;
    private final ExecutorService roles;
    private final FileSender sender;
    private final FileReceiver receiver;
    private final SimpleStateMachineStorage files = new SimpleStateMachineStorage();

    // Set when Raft initializes this, before anything else.
    private volatile @Nullable RaftView raft;
    private volatile @Nullable GroupReplica replica;
    private volatile @Nullable AppliedMark mark;
    private volatile @Nullable SeenHosts seen;
    private @Nullable RaftLogKeeper keeper;
    /** Where the last frame that was applied ends in the store's log. */
    private long appliedLsn;
    /** The term in which the replica leads, or null; set under the lock, read without it by whoever ends the term. */
    private volatile @Nullable RaftCommitLog leading;

    private volatile boolean closing;
    /** Closes this host, which leaves; null while it takes part. */
    private final AtomicReference<@Nullable Thread> leaver = new AtomicReference<>();

    /**
     * The state of a host that takes no part yet.
     *
     * @param givesWay when this host was elected, says whether another has taken leadership over instead
     */
    GroupStateMachine(
            GroupConfig config,
            LeadershipListener listener,
            BiConsumer<byte[], Proposal> propose,
            BooleanSupplier givesWay) {
        this.config = config;
        this.listener = listener;
        this.propose = propose;
        this.givesWay = givesWay;
        this.roles = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "caravan-roles " + config.self());
            thread.setDaemon(true);
            return thread;
        });
        this.sender = new FileSender(config.self(), new OwnStore());
        this.receiver = new FileReceiver(config, () -> closing, new OwnStore());
    }

    @Override
    public synchronized void initialize(RaftServer server, RaftGroupId group, RaftStorage storage) throws IOException {
        super.initialize(server, group, storage);
        files.init(storage);
        raft = new RaftView(server, group);
        AppliedMark known =
                new AppliedMark(storage.getStorageDir().getStateMachineDir().toPath());
        mark = known;
        seen = new SeenHosts(storage.getStorageDir().getStateMachineDir().toPath());
        RaftLogStart.prepare(storage.getStorageDir().getCurrentDir().toPath(), known.durable());
        keeper = new RaftLogKeeper(storage.getStorageDir().getCurrentDir().toPath(), config.keptLogBytes());
        replica = new GroupReplica(config, known, () -> closing);
        Applied durable = known.durable();
        if (durable != null) {
            goOnBehind(durable);
        }
        getLifeCycle().startAndTransition(() -> {});
    }

    private void goOnBehind(Applied durable) {
        setLastAppliedTermIndex(durable.entry());
        appliedLsn = durable.endLsn();
    }

    @Override
    public StateMachineStorage getStateMachineStorage() {
        return files;
    }

    @Override
    public @Nullable SnapshotInfo getLatestSnapshot() {
        AppliedMark known = mark;
        return known == null ? null : known.told();
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
     * Whether the entry is applied. What is not, because this host leaves or is closing, it hears again when it is started
     * again.
     */
    private boolean apply(TermIndex place, ByteBuffer bytes) {
        try {
            FrameEntry entry = bytes.hasRemaining() ? FrameEntry.decode(place.toString(), bytes) : null;
            // Roles change no more when it closes; and nothing may be applied behind what was not.
            while (!closing && leaver.get() == null) {
                if (applied(place, entry)) {
                    return true;
                }
                // An entry of another leader: this host leads no longer, and has not been told yet.
                resign("another host leads the group");
                awaitRole();
            }
        } catch (IllegalStateException lacking) {
            leave(lacking);
        }
        return false;
    }

    /** Returns false when the replica, which leads, must follow first. */
    private synchronized boolean applied(TermIndex place, @Nullable FrameEntry entry) {
        if (entry != null) {
            RaftCommitLog term = leading;
            if (term != null && !term.committed(entry.frame())) {
                return false;
            }
            // What is left out has its place taken by a frame that was applied before: the store lacks nothing.
            if (term == null && !initialized(replica).replay(place.toString(), entry)) {
                return true;
            }
            appliedLsn = FrameEntry.endLsn(entry.frame());
        }
        // An entry without a frame only says that its leader led; the log of a group that writes nothing ends, too.
        initialized(mark).applied(place, appliedLsn);
        if (initialized(keeper).due(appliedLsn)) {
            inTurn(this::dropLog);
        }
        return true;
    }

    /** Returns when the changes of role that were asked for are through. */
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

    /** What is there from initialization on. */
    private static <T> T initialized(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("Raft has not initialized the group's state yet");
        }
        return part;
    }

    /** Forces the replica, and drops what the Raft log is needed for no more. */
    private void dropLog() {
        try {
            long durable = markForced().entry().getIndex();
            RaftView known = initialized(raft);
            RaftServer.Division division = known.division();
            Map<RaftPeerId, Long> committed = RaftView.committed(division);
            sender.forget(durable, host -> committed.getOrDefault(RaftPeerId.valueOf(host), -1L), known::isGone);
            initialized(keeper).drop(division, durable, sender.firstHeld());
        } catch (IOException | CaravanException failed) {
            LOG.warn("{}: keeps its Raft log as it is for now: {}", config.self(), failed.getMessage());
        }
    }

    /** Forces the replica. Returns the entry up to which its files have everything. */
    private Applied markForced() throws IOException {
        initialized(replica).now().force();
        synchronized (this) {
            AppliedMark known = initialized(mark);
            known.forced(initialized(replica).now().forcedPosition());
            Applied durable = known.durable();
            if (durable == null) {
                throw new IOException("no frame is forced yet");
            }
            return durable;
        }
    }

    /** Hosts that are behind what the Raft log keeps ask for files, and those that start for the first time for facts. */
    @Override
    public CompletableFuture<Message> query(Message request) {
        if (HostFacts.isQuestion(request.getContent())) {
            return CompletableFuture.completedFuture(Message.valueOf(facts(HostFacts.asker(request.getContent()))));
        }
        return sender.ask(request.getContent(), initialized(raft)::isFollower).thenApply(Message::valueOf);
    }

    private ByteString facts(String asker) {
        noteHosts();
        return new HostFacts(
                        FrameEntry.FORMAT_LEVEL,
                        initialized(replica).now().logSegmentBytes(),
                        initialized(seen).has(asker))
                .encode();
    }

    /** Remembers which of the other hosts have had entries. */
    void noteHosts() {
        try {
            initialized(seen)
                    .add(RaftView.committed(initialized(raft).division()).entrySet().stream()
                            .filter(host -> host.getValue() > 0)
                            .map(host -> host.getKey().toString())
                            .toList());
        } catch (IOException failed) {
            LOG.warn("{}: cannot note which hosts have had entries of the group", config.self(), failed);
        }
    }

    /** This host is behind what the leader's Raft log keeps, or joins. */
    @Override
    public CompletableFuture<@Nullable TermIndex> notifyInstallSnapshotFromLeader(RoleInfoProto role, TermIndex first) {
        if (first.getIndex() <= 0) {
            // Raft asks each host that joins; this one hears everything from the log.
            return CompletableFuture.completedFuture(null);
        }
        RaftPeerProto leader = role.getFollowerInfo().getLeaderInfo().getId();
        return receiver.receive(ProtoUtils.toRaftPeer(leader));
    }

    /** The store as files that others are sent, and that are replaced by those of others. */
    private final class OwnStore implements FileSender.Source, FileReceiver.Target {
        @Override
        public Replica replica() {
            return initialized(replica).now();
        }

        @Override
        public Applied start(SentFiles copy) throws IOException {
            markForced();
            // As one with what dropLog() looks at, so that nothing is dropped in between.
            synchronized (GroupStateMachine.this) {
                Applied start = Objects.requireNonNull(initialized(mark).durable());
                copy.startAt(start);
                return start;
            }
        }

        @Override
        public Path begin() throws IOException {
            synchronized (GroupStateMachine.this) {
                return initialized(replica).beginIncoming();
            }
        }

        @Override
        public void install(Path received, Applied copied) throws IOException {
            synchronized (GroupStateMachine.this) {
                if (leading != null) {
                    throw new IOException("this host leads its group now");
                }
                initialized(replica).install(received, copied);
            }
        }
    }

    /** What a host has of the files that it is sent, as far as this host knows; null when it is sent none. */
    GroupMember.@Nullable FileProgress files(String host) {
        return (host.equals(config.self()) ? receiver.progress() : sender.progress(host)).orElse(null);
    }

    /** The store was replaced already; Raft is about to drop its log and go on behind it. */
    @Override
    public void pause() {
        initialized(mark).tell();
        getLifeCycle().transition(LifeCycle.State.PAUSING);
        getLifeCycle().transition(LifeCycle.State.PAUSED);
    }

    /** On the thread that applies entries. */
    @Override
    public synchronized void reinitialize() {
        goOnBehind(Objects.requireNonNull(initialized(mark).durable()));
        getLifeCycle().startAndTransition(() -> {});
    }

    /**
     * A look, one each election timeout, at whether Raft has taken over the files that were received. If the leader was
     * lost just then, and the next one could do without files, nobody asks for them, and this host takes no entries. When
     * it is started again, it goes on behind the files.
     *
     * @param patience after so many looks the host leaves
     */
    void lookAfterFiles(int patience) {
        if (initialized(mark).isForgotten(patience)) {
            leave(new IllegalStateException(
                    "host " + config.self() + " has received files, and no leader asks for them"));
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

    /** Before this host, if it is the new leader, tells the others so. */
    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (leader.equals(member.getPeerId())) {
            forceOwnVote();
        } else {
            resign("host " + leader + " leads the group");
            Objects.requireNonNull(raft).endConnections();
        }
    }

    /** It voted for itself. Raft ends this host's part when this throws. */
    private void forceOwnVote() {
        try {
            DurableVotes.of(config).force();
        } catch (IOException failed) {
            IllegalStateException lost =
                    new IllegalStateException("the vote of host " + config.self() + " cannot be made durable", failed);
            leave(lost);
            throw lost;
        }
    }

    /**
     * Ends the term whose store waits for this proposal, as it has failed or its outcome is unknown. A late answer changes
     * nothing: its frame has been committed, or its term is over.
     */
    void proposalFailed(Proposal proposal, Throwable problem) {
        RaftCommitLog term = leading;
        if (term != null && term.waitsFor(proposal)) {
            resign("a frame was not committed: " + problem.getMessage());
        }
        proposal.fail(problem);
    }

    /** Without the lock: it may be held by whoever waits for what this ends. */
    private void resign(String why) {
        RaftCommitLog term = leading;
        if (term != null) {
            term.abandon(new IOException(why));
            inTurn(this::becomeFollower);
        }
    }

    /** Does it after the changes of role that were asked for before; not any more once the host is closing. */
    private void inTurn(Runnable change) {
        try {
            roles.execute(change);
        } catch (RejectedExecutionException closed) {
            LOG.debug("{} is closing: its role changes no more", config.self(), closed);
        }
    }

    private void becomeLeader() {
        if (!closing && initialized(raft).isLeaderReady() && givesWay.getAsBoolean()) {
            return;
        }
        Replica leader;
        synchronized (this) {
            if (closing || leading != null || !initialized(raft).isLeaderReady()) {
                return;
            }
            leader = initialized(replica).now();
            if (leader.position() < appliedLsn) {
                leave(new IllegalStateException(
                        "host " + config.self() + " had applied what its group has committed up to" + " LSN "
                                + appliedLsn + ", and its store ends at " + leader.position() + " now"));
                return;
            }
            RaftCommitLog term = new RaftCommitLog(propose, frame -> GroupReplica.entry(leader, frame));
            leader.lead(term);
            leading = term;
        }
        LOG.info("{} leads its group", config.self());
        listener.leads(leader.store());
        if (!initialized(raft).isLeaderReady()) {
            resign("leadership was lost meanwhile");
        }
    }

    private synchronized void becomeFollower() {
        RaftCommitLog term = leading;
        if (closing || term == null || !term.isAbandoned()) {
            return;
        }
        LOG.info("{} follows", config.self());
        sender.stop("this host leads no longer");
        listener.follows();
        leading = null;
        GroupReplica follower = initialized(replica);
        follower.reopen();
        ByteBuffer last = term.lastCommitted();
        if (last != null && !closing) {
            try {
                follower.replay("of the last frame that it led", FrameEntry.plain(last));
            } catch (IllegalStateException lacking) {
                leave(lacking);
                return;
            }
        }
        // Raft may take this host for the leader still, as only its store has failed.
        inTurn(this::becomeLeader);
    }

    /** Its log stays failed for good, though the cause may go, as when a full disk has room again. */
    @Override
    public void notifyLogFailed(Throwable cause, @Nullable LogEntryProto entry) {
        leave(new IllegalStateException("Raft cannot write the log of host " + config.self(), cause));
    }

    /**
     * Ends this host's part in the group, which takes it for lost until it is started again. So it neither leads nor votes
     * when its store lacks what it had, before it has heard that again.
     */
    private void leave(IllegalStateException why) {
        // Closing waits for the threads of roles and of entries, and this is one of them.
        Thread thread = new Thread(this::endPart, "caravan-leave " + config.self());
        thread.setDaemon(true);
        if (!closing && leaver.compareAndSet(null, thread)) {
            LOG.error("{}: leaves its group; start it again", config.self(), why);
            giveUp();
            thread.start();
        }
    }

    /** Whatever is tried again and again ends, and nothing of the sort is begun: Raft cannot close while it is. */
    void giveUp() {
        closing = true;
    }

    /** Returns when a host that has left by itself is closed, or is not within a while. */
    void awaitLeft() throws IOException {
        Thread thread = leaver.get();
        if (thread == null) {
            return;
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(2 * STOP_SECONDS));
            if (thread.isAlive()) {
                throw new IOException(
                        config.self() + " has left its group and is not closed within " + 2 * STOP_SECONDS + " s");
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }

    private void endPart() {
        try {
            initialized(raft).division().close();
        } catch (IOException gone) {
            LOG.debug("{}: takes no part in its group already", config.self(), gone);
        }
    }

    /** What shows that the group moves: how far this host and each of the others are, and the files that they are sent. */
    List<Long> howFar() {
        List<Long> all = new ArrayList<>();
        try {
            DivisionInfo info = initialized(raft).division().getInfo();
            all.add(info.getLastAppliedIndex());
            // Null, when leadership was lost a moment ago.
            long[] others = info.getFollowerMatchIndices();
            if (others != null) {
                Arrays.stream(others).forEach(all::add);
            }
        } catch (IOException left) {
            return List.of();
        }
        all.addAll(sender.sentBytes());
        return all;
    }

    @Override
    public String toStateMachineLogEntryString(StateMachineLogEntryProto entry) {
        return "a frame of " + entry.getLogData().size() + " bytes";
    }

    @Override
    public void close() throws IOException {
        closing = true;
        RaftCommitLog term = leading;
        if (term != null) {
            term.abandon(new IOException("the host is closing"));
        }
        sender.stop("the host is closing");
        inTurn(this::finish);
        roles.shutdown();
        try {
            receiver.awaitEnd(STOP_SECONDS);
            if (!roles.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(config.self() + " did not close its replica within " + STOP_SECONDS + " s");
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        super.close();
    }

    private synchronized void finish() {
        if (leading != null) {
            listener.follows();
            leading = null;
        }
        if (replica != null) {
            replica.close();
        }
    }
}
