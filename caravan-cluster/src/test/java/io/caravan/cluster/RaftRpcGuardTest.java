package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.io.grpc.ManagedChannel;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.MethodDescriptor;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyChannelBuilder;
import org.apache.ratis.thirdparty.io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of a node's replies to candidates, and of append requests from leaders. The directory to be fsynced before a
 * vote does not exist, so an attempt to fsync it fails.
 */
@LongTimeout
final class RaftRpcGuardTest {
    @TempDir
    Path directory;

    private final List<Object> sent = new ArrayList<>();
    private final BlockingQueue<AppendEntriesReplyProto> replies = new LinkedBlockingQueue<>();
    private Path currentDirectory;
    private LongSupplier fsynced = () -> {
        throw new AssertionError("requests the index of the last fsynced entry");
    };

    @BeforeEach
    void setMissingDirectory() {
        currentDirectory = directory.resolve("current");
    }

    private static RequestVoteReplyProto vote(boolean granted) {
        return RequestVoteReplyProto.newBuilder()
                .setServerReply(RaftRpcReplyProto.newBuilder().setSuccess(granted))
                .build();
    }

    private void send(Object message) {
        new RaftRpcGuard(currentDirectory, fsynced).interceptCall(new Call(), new Metadata(), (call, headers) -> {
            call.sendMessage(message);
            return new ServerCall.Listener<>() {};
        });
    }

    @Test
    void sendsVoteOnlyAfterFsync() throws IOException {
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> send(vote(true)))
                .withMessageContaining("cannot fsync the vote of this node")
                .withMessageContaining("current");
        assertThat(sent).isEmpty();

        Files.createDirectory(currentDirectory);
        send(vote(true));
        assertThat(sent).containsExactly(vote(true));
    }

    @Test
    void sendsOtherRepliesWithoutFsync() {
        send(vote(false));
        send("entries");
        assertThat(sent).containsExactly(vote(false), "entries");
    }

    private static AppendEntriesReplyProto confirmation(AppendResult result, long entry) {
        return AppendEntriesReplyProto.newBuilder()
                .setResult(result)
                .setMatchIndex(entry)
                .build();
    }

    @Test
    void confirmsEntriesAfterFsync() {
        AtomicLong index = new AtomicLong(4);
        fsynced = () -> {
            assertThat(sent).isEmpty();
            return index.getAndIncrement();
        };
        send(confirmation(AppendResult.SUCCESS, 7));
        assertThat(index).hasValue(8);
        assertThat(sent).containsExactly(confirmation(AppendResult.SUCCESS, 7));
    }

    @Test
    void sendsRejectionWithoutWaiting() {
        send(confirmation(AppendResult.INCONSISTENCY, -1));
        assertThat(sent).containsExactly(confirmation(AppendResult.INCONSISTENCY, -1));
    }

    @Test
    void doesNotConfirmUnfsyncedEntries() {
        fsynced = () -> 6;
        send(confirmation(AppendResult.SUCCESS, 7));
        assertThat(sent).containsExactly(Status.Code.INTERNAL);
    }

    @Test
    void nodeInstallsGuard() throws IOException {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            Parameters parameters = RaftSettings.parameters(config, () -> 0);
            assertThat(GrpcConfigKeys.Server.servicesCustomizer(parameters)).isInstanceOf(RaftRpcGuard.class);
        }
    }

    /**
     * Tests that a follower does not commit a former leader's entry in place of the entry that a later leader has
     * committed.
     */
    @Test
    void followerDoesNotCommitConflictingFirstEntry() throws Exception {
        try (Group group = new Group(directory)) {
            group.create("b");
            ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port(group, "b"))
                    .usePlaintext()
                    .build();
            try {
                StreamObserver<AppendEntriesRequestProto> stream =
                        RaftServerProtocolServiceGrpc.newStub(channel).appendEntries(new Replies());
                assertThat(reply(stream, append(group, "a", 5, -1, members(group, 5))))
                        .extracting(AppendEntriesReplyProto::getResult, AppendEntriesReplyProto::getFollowerCommit)
                        .containsExactly(AppendResult.SUCCESS, -1L);

                assertThat(reply(stream, append(group, "c", 6, 0)).getFollowerCommit())
                        .as("the leader's first entry is not this one")
                        .isEqualTo(-1);
                assertThat(reply(stream, append(group, "c", 6, 0, members(group, 6))))
                        .extracting(AppendEntriesReplyProto::getResult, AppendEntriesReplyProto::getFollowerCommit)
                        .containsExactly(AppendResult.SUCCESS, 0L);
                stream.onCompleted();
            } finally {
                channel.shutdownNow();
            }
        }
    }

    private static int port(Group group, String node) {
        return group.nodes().stream()
                .filter(each -> each.id().equals(node))
                .findAny()
                .orElseThrow()
                .port();
    }

    /** Returns a membership entry, which is the first entry that a leader appends. */
    private static LogEntryProto members(Group group, long term) {
        RaftConfigurationProto.Builder members = RaftConfigurationProto.newBuilder();
        group.nodes().forEach(node -> members.addPeers(Membership.peer(node).getRaftPeerProto()));
        return LogEntryProto.newBuilder()
                .setTerm(term)
                .setIndex(0)
                .setConfigurationEntry(members)
                .build();
    }

    /** Returns a leader's append request to node b, without a previous entry. */
    private static AppendEntriesRequestProto append(
            Group group, String leader, long term, long committed, LogEntryProto... entries) {
        return AppendEntriesRequestProto.newBuilder()
                .setServerRequest(RaftRpcRequestProto.newBuilder()
                        .setRequestorId(ByteString.copyFromUtf8(leader))
                        .setReplyId(ByteString.copyFromUtf8("b"))
                        .setRaftGroupId(RaftGroupIdProto.newBuilder()
                                .setId(RaftGroupId.valueOf(group.id()).toByteString())))
                .setLeaderTerm(term)
                .setLeaderCommit(committed)
                .addAllEntries(List.of(entries))
                .build();
    }

    private AppendEntriesReplyProto reply(
            StreamObserver<AppendEntriesRequestProto> stream, AppendEntriesRequestProto request)
            throws InterruptedException {
        stream.onNext(request);
        return Objects.requireNonNull(replies.poll(60, TimeUnit.SECONDS), "node b did not reply");
    }

    private final class Replies implements StreamObserver<AppendEntriesReplyProto> {
        @Override
        public void onNext(AppendEntriesReplyProto reply) {
            replies.add(reply);
        }

        @Override
        public void onError(Throwable failed) {
            failed.printStackTrace(System.out);
        }

        @Override
        public void onCompleted() {}
    }

    private final class Call extends ServerCall<Object, Object> {
        @Override
        public void request(int numMessages) {}

        @Override
        public void sendHeaders(Metadata headers) {}

        @Override
        public void sendMessage(Object message) {
            sent.add(message);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            sent.add(status.getCode());
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<Object, Object> getMethodDescriptor() {
            throw new UnsupportedOperationException();
        }
    }
}
