package io.caravan.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyServerBuilder;

/**
 * Makes votes durable. Ratis (3.3.0) fsyncs the file with the term and the vote, and renames it, but does not fsync its
 * directory. After a power failure the old file may exist again, and the node may vote twice in a term. The directory
 * is therefore fsynced before the reply to a candidate is sent. For the node's own vote, the directory is fsynced
 * before the node acts as the elected leader ({@link #force}).
 */
final class DurableVotes implements GrpcServices.Customizer, ServerInterceptor {
    /**
     * The number of directories that Raft creates when a node first starts: its own, the group's, and the directory of
     * the votes.
     */
    private static final int FOLDERS = 3;

    private final Path folder;

    /** Creates the interceptor for the votes in this directory. */
    DurableVotes(Path folder) {
        this.folder = folder;
    }

    /** Returns the interceptor for a node's votes, which are in the node's directory of the group. */
    static DurableVotes of(GroupConfig config) {
        return new DurableVotes(
                config.raftDirectory().resolve(config.group().toString()).resolve("current"));
    }

    /**
     * Fsyncs the directory of the votes and its parents, so that all votes until now and the directory names are
     * durable.
     */
    void force() throws IOException {
        Path each = folder.toAbsolutePath().normalize();
        for (int forced = 0; forced < FOLDERS && each != null; forced++) {
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
        return next.startCall(
                new SimpleForwardingServerCall<>(call) {
                    @Override
                    public void sendMessage(R message) {
                        if (message instanceof RequestVoteReplyProto vote
                                && vote.getServerReply().getSuccess()) {
                            forceBeforeAnswer();
                        }
                        super.sendMessage(message);
                    }
                },
                headers);
    }

    private void forceBeforeAnswer() {
        try {
            force();
        } catch (IOException failed) {
            throw Status.INTERNAL
                    .withDescription("cannot fsync the vote of this node: " + failed)
                    .withCause(failed)
                    .asRuntimeException();
        }
    }
}
