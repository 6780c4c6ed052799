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
 * Makes votes durable. Ratis (3.3.0) forces the file with the term and the vote, and renames it, but does not force the
 * folder that has its name: after a power cut the old file may be there again, and the host may vote twice in a term. So
 * the folder is forced before the answer to a candidate leaves, and, for the host's own vote, before it acts as the leader
 * that it was elected ({@link #force}).
 */
final class DurableVotes implements GrpcServices.Customizer, ServerInterceptor {
    /** Raft's folder, the group's in it, and that of the votes, which Raft makes when a host is first started. */
    private static final int FOLDERS = 3;

    private final Path folder;

    /** Votes that are in this folder. */
    DurableVotes(Path folder) {
        this.folder = folder;
    }

    /** The votes of a host are in its folder of the group. */
    static DurableVotes of(GroupConfig config) {
        return new DurableVotes(
                config.raftDirectory().resolve(config.group().toString()).resolve("current"));
    }

    /** Makes the votes durable that were given until now, and the names of the folders that they are in. */
    void force() throws IOException {
        Path each = folder.toAbsolutePath().normalize();
        for (int forced = 0; forced < FOLDERS && each != null; forced++) {
            Folders.force(each);
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
                    .withDescription("this host's vote cannot be made durable: " + failed)
                    .withCause(failed)
                    .asRuntimeException();
        }
    }
}
