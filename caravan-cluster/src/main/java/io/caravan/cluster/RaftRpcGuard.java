package io.caravan.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyServerBuilder;

/**
 * Corrects four faults that Ratis (3.3.0) has in the RPCs between nodes.
 *
 * <ul>
 *   <li><b>Durable votes.</b> Ratis fsyncs the file with the term and the vote, and renames it, but does not fsync its
 *       directory. After a power failure the old file may reappear, and the node may vote twice in a term. The
 *       directory is therefore fsynced before the reply to a candidate is sent. For the node's own vote, the directory
 *       is fsynced before the node acts as the elected leader ({@link #force}).
 *   <li><b>No commit of an unconfirmed entry.</b> An append request without a previous entry confirms only the entries
 *       that it contains, but Ratis commits one more. A former leader whose first entries were not committed would
 *       commit its own entry in place of the group's entry, and reject every later entry. Therefore the commit index of
 *       such a request is lowered to the last entry that the request contains.
 *   <li><b>Durable entries.</b> A follower replies when it has fsynced the entries of a request. But after a truncation
 *       of the log, Ratis still compares new entries with the index up to which the longer log was fsynced, and may
 *       reply before it fsyncs the new entries. Such a reply waits until the log is fsynced up to the last entry of the
 *       request.
 *   <li><b>No return to earlier members.</b> If an append request or a notification about a snapshot arrives late,
 *       Ratis forgets the members in later entries of the log. A request can be late on a slow node, or on a
 *       connection that the leader has replaced. The node would then vote, and count votes, with earlier members,
 *       until the members change or the node restarts. An append request that only repeats entries before the newest
 *       members therefore reaches Ratis as a heartbeat, without the entries, and its reply is completed so that it
 *       confirms the entries. A request whose first entry is committed passes unchanged, because Ratis itself rejects
 *       it. An outdated notification reaches Ratis without its members.
 * </ul>
 */
final class RaftRpcGuard implements GrpcServices.Customizer, ServerInterceptor {
    /** The number of directories that Raft creates at a node's first start: for the node, the group, and the votes. */
    private static final int DIRECTORIES = 3;

    private static final long FSYNC_SECONDS = 2;
    private static final long FSYNC_PAUSE_NANOS = 100_000;
    private static final Status NOT_FSYNCED =
            Status.INTERNAL.withDescription("the entries are not fsynced after " + FSYNC_SECONDS + " s");

    private final Path votes;
    /** The node's member of the group, which is not looked up before the node serves requests. */
    private final Supplier<RaftServer.Division> division;

    /** Creates the guard of a node; {@code votes} is the directory that contains the node's votes. */
    RaftRpcGuard(Path votes, Supplier<RaftServer.Division> division) {
        this.votes = votes;
        this.division = division;
    }

    /** Returns the directory that contains a node's votes, within the node's directory for the group. */
    static Path votes(GroupConfig config) {
        return config.raftDirectory().resolve(config.group().toString()).resolve("current");
    }

    /** Fsyncs the votes directory and its parents, so that all votes and the directories' names are durable. */
    static void force(Path votes) throws IOException {
        Path each = votes.toAbsolutePath().normalize();
        for (int forced = 0; forced < DIRECTORIES && each != null; forced++) {
            StoreDirectories.force(each);
            each = each.getParent();
        }
    }

    @Override
    public NettyServerBuilder customize(NettyServerBuilder builder, EnumSet<GrpcServices.Type> types) {
        return types.contains(GrpcServices.Type.SERVER) ? builder.intercept(this) : builder;
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        // The index of the last entry of each request without its entries, by the id of the request.
        Map<Long, Long> repetitions = new ConcurrentHashMap<>();
        ServerCall.Listener<Q> listener = next.startCall(
                new SimpleForwardingServerCall<>(call) {
                    @Override
                    @SuppressWarnings("unchecked")
                    public void sendMessage(R message) {
                        if (message instanceof AppendEntriesReplyProto reply) {
                            AppendEntriesReplyProto complete = withMatchIndex(reply, repetitions);
                            if (isFsynced(complete)) {
                                super.sendMessage((R) complete);
                            } else {
                                close(NOT_FSYNCED, new Metadata());
                            }
                            return;
                        }
                        if (message instanceof RequestVoteReplyProto vote
                                && vote.getServerReply().getSuccess()) {
                            forceVote();
                        }
                        super.sendMessage(message);
                    }
                },
                headers);
        return new SimpleForwardingServerCallListener<>(listener) {
            @Override
            @SuppressWarnings("unchecked")
            public void onMessage(Q message) {
                if (message instanceof AppendEntriesRequestProto heartbeat && heartbeat.getEntriesCount() == 0) {
                    // A heartbeat appends no members, and must not wait for a request that waits for the disk.
                    super.onMessage((Q) confirmed(heartbeat));
                } else if (message instanceof AppendEntriesRequestProto append) {
                    // A request on another connection must not append members between the check and this request.
                    synchronized (RaftRpcGuard.this) {
                        super.onMessage((Q) confirmed(withoutRepetition(append, repetitions)));
                    }
                } else if (message instanceof InstallSnapshotRequestProto notification) {
                    synchronized (RaftRpcGuard.this) {
                        super.onMessage((Q) withoutEarlierMembers(notification));
                    }
                } else {
                    super.onMessage(message);
                }
            }
        };
    }

    /**
     * Returns the notification, without its members if they are outdated. Ratis uses the members even if it rejects the
     * notification.
     */
    private InstallSnapshotRequestProto withoutEarlierMembers(InstallSnapshotRequestProto notification) {
        long index = notification.getLastRaftConfigurationLogEntryProto().getIndex();
        return notification.hasLastRaftConfigurationLogEntryProto() && areOutdated(index, notification.getLeaderTerm())
                ? notification.toBuilder()
                        .clearLastRaftConfigurationLogEntryProto()
                        .build()
                : notification;
    }

    /** Whether members at this index, which the leader of this term has sent, are no longer the newest. */
    private boolean areOutdated(long membersIndex, long leaderTerm) {
        RaftServer.Division now = division.get();
        long newest = now.getRaftConf().getLogEntryIndex();
        return leaderTerm < now.getInfo().getCurrentTerm()
                || newest > membersIndex && isCertain(now.getRaftLog(), newest, leaderTerm);
    }

    /** Whether an entry is committed, or the leader of this term has it because the leader has appended it. */
    private static boolean isCertain(RaftLog log, long index, long leaderTerm) {
        TermIndex entry = log.getTermIndex(index);
        return index <= log.getLastCommittedIndex() || entry != null && entry.getTerm() == leaderTerm;
    }

    /**
     * Returns the request, without its entries if the log contains them and, after them, the newest members. Ratis
     * itself rejects a request whose first entry is committed, and reports to the leader which entry to send next.
     */
    private AppendEntriesRequestProto withoutRepetition(
            AppendEntriesRequestProto request, Map<Long, Long> repetitions) {
        TermIndex last = TermIndex.valueOf(request.getEntries(request.getEntriesCount() - 1));
        RaftServer.Division now = division.get();
        boolean membersFollow = last.getIndex() < now.getRaftConf().getLogEntryIndex();
        // An entry is in two logs only if all entries before it are also the same.
        if (membersFollow
                && now.getRaftLog().contains(last)
                && request.getEntries(0).getIndex() > now.getRaftLog().getLastCommittedIndex()) {
            repetitions.put(request.getServerRequest().getCallId(), last.getIndex());
            return request.toBuilder()
                    .clearEntries()
                    .setPreviousLog(last.toProto())
                    .build();
        }
        return request;
    }

    /** Returns the reply. The reply to a request without its entries confirms the entries: the leader waits for it. */
    private static AppendEntriesReplyProto withMatchIndex(AppendEntriesReplyProto reply, Map<Long, Long> repetitions) {
        Long last = repetitions.remove(reply.getServerReply().getCallId());
        if (last == null) {
            return reply;
        }
        AppendEntriesReplyProto.Builder complete = reply.toBuilder().setIsHearbeat(false);
        return reply.getResult() == AppendResult.SUCCESS
                ? complete.setMatchIndex(last).setNextIndex(last + 1).build()
                : complete.build();
    }

    /** Returns the request, with its commit index lowered, if necessary, to an index that the request itself confirms. */
    private static AppendEntriesRequestProto confirmed(AppendEntriesRequestProto request) {
        long last = request.getEntriesCount() - 1L;
        return request.hasPreviousLog() || request.getLeaderCommit() <= last
                ? request
                : request.toBuilder().setLeaderCommit(last).build();
    }

    /**
     * Waits until the entries that a reply confirms are fsynced; usually, they already are. Returns false if they are
     * not, because Ratis has truncated the log again or cannot write.
     */
    private boolean isFsynced(AppendEntriesReplyProto reply) {
        long start = System.nanoTime();
        while (reply.getResult() == AppendResult.SUCCESS
                && division.get().getRaftLog().getFlushIndex() < reply.getMatchIndex()) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(FSYNC_SECONDS)) {
                return false;
            }
            LockSupport.parkNanos(FSYNC_PAUSE_NANOS);
        }
        return true;
    }

    private void forceVote() {
        try {
            force(votes);
        } catch (IOException failed) {
            throw Status.INTERNAL
                    .withDescription("cannot fsync the vote of this node: " + failed)
                    .withCause(failed)
                    .asRuntimeException();
        }
    }
}
