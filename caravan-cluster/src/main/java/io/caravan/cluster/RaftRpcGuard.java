package io.caravan.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyServerBuilder;

/**
 * Corrects three faults that Ratis (3.3.0) has in the RPCs between nodes.
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
    private final LongSupplier fsynced;

    /** Creates the guard of this directory; {@code fsynced} returns the index of the last entry that is fsynced. */
    RaftRpcGuard(Path votes, LongSupplier fsynced) {
        this.votes = votes;
        this.fsynced = fsynced;
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
        ServerCall.Listener<Q> listener = next.startCall(
                new SimpleForwardingServerCall<>(call) {
                    @Override
                    public void sendMessage(R message) {
                        if (message instanceof RequestVoteReplyProto vote
                                && vote.getServerReply().getSuccess()) {
                            forceVote();
                        } else if (message instanceof AppendEntriesReplyProto reply && !isFsynced(reply)) {
                            close(NOT_FSYNCED, new Metadata());
                            return;
                        }
                        super.sendMessage(message);
                    }
                },
                headers);
        return new SimpleForwardingServerCallListener<>(listener) {
            @Override
            @SuppressWarnings("unchecked")
            public void onMessage(Q message) {
                super.onMessage(
                        message instanceof AppendEntriesRequestProto request ? (Q) confirmed(request) : message);
            }
        };
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
        while (reply.getResult() == AppendResult.SUCCESS && fsynced.getAsLong() < reply.getMatchIndex()) {
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
