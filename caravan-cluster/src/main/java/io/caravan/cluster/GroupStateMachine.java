package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.FrameRefusedException;
import io.caravan.OutOfSpaceException;
import io.caravan.Replica;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Raft tells this host: the committed entries, one after another, and whether it leads. Each entry is a frame. A
 * follower repeats it; the leader's own store waits for it.
 *
 * <p>When leadership is lost the store is closed, and opened anew as a follower: what it accepted and the group did not
 * commit is gone with its memory. Changes of role take turns on a thread of their own; whoever uses the replica holds
 * this object's lock.
 */
final class GroupStateMachine extends BaseStateMachine {
    private static final Logger LOG = LoggerFactory.getLogger(GroupStateMachine.class);
    private static final long RETRY_MILLIS = 100;
    private static final long STOP_SECONDS = 30;

    private final GroupConfig config;
    private final LeadershipListener listener;
    private final BiConsumer<byte[], Proposal> propose;
    private final ExecutorService roles;
    private final SimpleStateMachineStorage files = new SimpleStateMachineStorage();

    // Set when Raft initializes this, before anything else.
    private @Nullable Replica replica;
    private volatile @Nullable AppliedMark mark;
    /** The term in which the replica leads, or null; set under the lock, read without it by whoever ends the term. */
    private volatile @Nullable RaftCommitLog leading;

    private volatile boolean closing;

    GroupStateMachine(GroupConfig config, LeadershipListener listener, BiConsumer<byte[], Proposal> propose) {
        this.config = config;
        this.listener = listener;
        this.propose = propose;
        this.roles = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "caravan-roles " + config.self());
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public synchronized void initialize(RaftServer server, RaftGroupId group, RaftStorage storage) throws IOException {
        super.initialize(server, group, storage);
        files.init(storage);
        AppliedMark known =
                new AppliedMark(storage.getStorageDir().getStateMachineDir().toPath());
        mark = known;
        Replica opened = Replica.open(config.store(), config.storeId());
        replica = opened;
        AppliedMark.Applied durable = known.durable();
        if (durable != null) {
            requireReached(opened, durable);
            setLastAppliedTermIndex(durable.entry());
        }
    }

    /** A store that was put back from an older copy lacks what the Raft log no longer has. */
    private void requireReached(Replica opened, AppliedMark.Applied durable) {
        if (opened.position() < durable.endLsn()) {
            long position = opened.position();
            opened.close();
            throw new StoreDirectoryException("the store in " + config.store().directory() + " ends at LSN " + position
                    + ", but had reached " + durable.endLsn()
                    + ": it is not the one that this host had; replace the host"
                    + " by one with another id and empty folders");
        }
    }

    @Override
    public StateMachineStorage getStateMachineStorage() {
        return files;
    }

    @Override
    public @Nullable SnapshotInfo getLatestSnapshot() {
        AppliedMark known = mark;
        AppliedMark.Applied durable = known == null ? null : known.durable();
        return durable == null ? null : new OwnFiles(durable.entry());
    }

    /** The store's own files are what Raft calls a snapshot. */
    private record OwnFiles(TermIndex termIndex) implements SnapshotInfo {
        @Override
        public TermIndex getTermIndex() {
            return termIndex;
        }

        @Override
        public List<FileInfo> getFiles() {
            return List.of();
        }
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        TermIndex place = TermIndex.valueOf(entry);
        ByteBuffer frame = entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer();
        apply(place, frame);
        updateLastAppliedTermIndex(place);
        return CompletableFuture.completedFuture(Message.EMPTY);
    }

    private void apply(TermIndex place, ByteBuffer frame) {
        while (!applied(place, frame)) {
            // An entry of another leader: this host leads no longer, and has not been told yet.
            resign("another host leads the group");
            awaitRole();
        }
    }

    /** Returns false when the replica, which leads, must follow first. */
    private synchronized boolean applied(TermIndex place, ByteBuffer frame) {
        RaftCommitLog term = leading;
        if (term != null && !term.committed(frame)) {
            return false;
        }
        if (term != null || replay(place.toString(), frame)) {
            initialized(mark).applied(place, Proposal.endLsn(frame));
        }
        return true;
    }

    /** Returns when the changes of role that were asked for are through. */
    private void awaitRole() {
        try {
            roles.submit(() -> {}).get();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(config.self() + " is closing", hurried);
        }
    }

    /** Returns whether the store has the frame. Tries until it has: Raft counts on it. */
    private boolean replay(String place, ByteBuffer frame) {
        while (true) {
            try {
                initialized(replica).replay(frame);
                return true;
            } catch (FrameRefusedException refused) {
                requireNothingMissing(place, frame, refused);
                // As on every other host; whoever proposed it is not waiting any more.
                LOG.warn("{}: entry {} of the group is left out", config.self(), place, refused);
                return false;
            } catch (OutOfSpaceException full) {
                LOG.warn("{}: waits for space to follow its group", config.self(), full);
            } catch (CaravanException failed) {
                LOG.error("{}: its replica has failed; opening it anew", config.self(), failed);
                reopen();
            }
            if (!retryPause()) {
                throw new IllegalStateException(config.self() + " is closing");
            }
        }
    }

    /** A host that lacks a frame must not go on: it would refuse all that follow, and could be elected. */
    private void requireNothingMissing(String place, ByteBuffer frame, FrameRefusedException refused) {
        if (Proposal.previousLsn(frame) >= initialized(replica).position()) {
            throw new IllegalStateException(
                    "host " + config.self() + " lacks what its group has committed before entry " + place
                            + ", and leaves the group; start it again: it hears from its Raft log what it lacks",
                    refused);
        }
    }

    /** Waits a little. Returns false when the host is closing. */
    private boolean retryPause() {
        try {
            TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            return false;
        }
        return !closing;
    }

    /** What is there from initialization on. */
    private static <T> T initialized(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("Raft has not initialized the group's state yet");
        }
        return part;
    }

    /**
     * Called by Raft now and then: says up to where the Raft log is needed no more, as far as that is known now. Must not
     * wait for a force, because a leader's flusher may be waiting for the thread that calls this.
     */
    @Override
    public synchronized long takeSnapshot() throws IOException {
        AppliedMark known = initialized(mark);
        known.forced(initialized(replica).forcedPosition());
        inTurn(this::forceForNextTime);
        AppliedMark.Applied durable = known.durable();
        return durable == null ? RaftLog.INVALID_LOG_INDEX : durable.entry().getIndex();
    }

    private void forceForNextTime() {
        Replica current;
        synchronized (this) {
            current = initialized(replica);
        }
        try {
            current.force();
        } catch (CaravanException failed) {
            LOG.debug("{}: could not force its replica, which is being closed", config.self(), failed);
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

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (!leader.equals(member.getPeerId())) {
            resign("host " + leader + " leads the group");
        }
    }

    /** A proposal has failed, or nobody knows what has become of it: its store has failed, too. */
    void proposalFailed(Proposal proposal, Throwable problem) {
        proposal.fail(problem);
        resign("a frame was not committed: " + problem.getMessage());
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
        Replica leader;
        synchronized (this) {
            if (closing || leading != null || !isLeaderReady()) {
                return;
            }
            RaftCommitLog term = new RaftCommitLog(propose);
            leader = initialized(replica);
            leader.lead(term);
            leading = term;
        }
        LOG.info("{} leads its group", config.self());
        listener.leads(leader.store());
        if (!isLeaderReady()) {
            resign("leadership was lost meanwhile");
        }
    }

    private boolean isLeaderReady() {
        try {
            return getServer().join().getDivision(getGroupId()).getInfo().isLeaderReady();
        } catch (IOException gone) {
            return false;
        }
    }

    private synchronized void becomeFollower() {
        RaftCommitLog term = leading;
        if (closing || term == null || !term.isAbandoned()) {
            return;
        }
        LOG.info("{} follows", config.self());
        listener.follows();
        reopen();
        ByteBuffer last = term.lastCommitted();
        if (last != null && !closing) {
            replay("of the last frame that it led", last);
        }
        leading = null;
        // Raft may take this host for the leader still, as only its store has failed.
        inTurn(this::becomeLeader);
    }

    private void reopen() {
        closeReplica();
        while (!closing) {
            try {
                replica = Replica.open(config.store(), config.storeId());
                return;
            } catch (CaravanException failed) {
                LOG.error("{}: cannot open its replica; trying again", config.self(), failed);
                if (!retryPause()) {
                    return;
                }
            }
        }
    }

    private void closeReplica() {
        try {
            initialized(replica).close();
        } catch (StoreFailedException known) {
            LOG.debug("{}: closed a replica that had failed", config.self(), known);
        }
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
        inTurn(this::finish);
        roles.shutdown();
        try {
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
            closeReplica();
        }
    }
}
