package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.testing.Crew;
import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
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

    /** Returns a division whose log has no members. */
    private static RaftServer.Division division(LongSupplier fsynced) {
        return stub(RaftServer.Division.class, fsynced);
    }

    /** Returns an object whose methods return other such objects, the index of the last fsynced entry, -1, or false. */
    private static <T> T stub(Class<T> type, LongSupplier fsynced) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Class<?> returned = method.getReturnType();
                    return method.getName().equals("getFlushIndex")
                            ? fsynced.getAsLong()
                            : returned == long.class
                                    ? -1L
                                    : returned == boolean.class ? false : stub(returned, fsynced);
                }));
    }

    private void send(Object message) {
        new RaftRpcGuard(currentDirectory, () -> division(fsynced))
                .interceptCall(new Call(), new Metadata(), (call, headers) -> {
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
            Parameters parameters = RaftSettings.parameters(config, () -> division(() -> 0));
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
            try (Connection leader = new Connection(group)) {
                assertThat(leader.reply(append(group, "a", 5, -1, members(group, 5))))
                        .extracting(AppendEntriesReplyProto::getResult, AppendEntriesReplyProto::getFollowerCommit)
                        .containsExactly(AppendResult.SUCCESS, -1L);

                assertThat(leader.reply(append(group, "c", 6, 0)).getFollowerCommit())
                        .as("the leader's first entry is not this one")
                        .isEqualTo(-1);
                assertThat(leader.reply(append(group, "c", 6, 0, members(group, 6))))
                        .extracting(AppendEntriesReplyProto::getResult, AppendEntriesReplyProto::getFollowerCommit)
                        .containsExactly(AppendResult.SUCCESS, 0L);
            }
        }
    }

    /**
     * Tests that a follower keeps the newest members if earlier requests of the leader arrive late, on other
     * connections. Otherwise, the follower would vote with earlier members until the next change or its restart.
     */
    @Test
    void followerKeepsNewestMembersIfEarlierRequestsArriveLate() throws Exception {
        try (Group group = new Group(directory)) {
            group.create("b");
            try (Connection replaced = new Connection(group);
                    Connection leader = new Connection(group)) {
                AppendEntriesRequestProto first = append(group, "a", 5, -1, members(group, 5));
                assertThat(leader.reply(first).getResult()).isEqualTo(AppendResult.SUCCESS);
                AppendEntriesRequestProto second = append(group, "a", 5, -1, withNodeD(group)).toBuilder()
                        .setPreviousLog(TermIndex.valueOf(5, 0).toProto())
                        .build();
                assertThat(leader.reply(second).getResult()).isEqualTo(AppendResult.SUCCESS);
                assertThat(ids(group)).containsExactlyInAnyOrder("a", "b", "c", "d");

                assertThat(replaced.reply(first))
                        .as("a confirmation of the entry, without which the leader would resend it or wait")
                        .extracting(
                                AppendEntriesReplyProto::getResult,
                                AppendEntriesReplyProto::getMatchIndex,
                                AppendEntriesReplyProto::getIsHearbeat)
                        .containsExactly(AppendResult.SUCCESS, 0L, false);
                assertThat(ids(group)).as("after an append request").containsExactlyInAnyOrder("a", "b", "c", "d");
                assertThat(replaced.result(notification(first))).isEqualTo(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE);
                assertThat(ids(group)).as("after a notification").containsExactlyInAnyOrder("a", "b", "c", "d");

                // The first entry of a later leader replaces both entries.
                assertThat(leader.reply(append(group, "c", 6, -1, members(group, 6)))
                                .getResult())
                        .isEqualTo(AppendResult.SUCCESS);
                assertThat(ids(group)).containsExactlyInAnyOrder("a", "b", "c");
            }
        }
    }

    /**
     * Tests that a leader that resends entries learns which entries the follower has committed. Otherwise, the leader
     * might resend its entire log.
     */
    @Test
    void followerReportsCommittedEntriesThatAreResent() throws Exception {
        try (Group group = new Group(directory)) {
            group.create("b");
            try (Connection leader = new Connection(group)) {
                AppendEntriesRequestProto first = append(group, "a", 5, -1, members(group, 5));
                leader.reply(first);
                AppendEntriesRequestProto second = append(group, "a", 5, 0, withNodeD(group)).toBuilder()
                        .setPreviousLog(TermIndex.valueOf(5, 0).toProto())
                        .build();
                assertThat(leader.reply(second).getFollowerCommit()).isZero();

                assertThat(leader.reply(first))
                        .extracting(AppendEntriesReplyProto::getResult, AppendEntriesReplyProto::getNextIndex)
                        .containsExactly(AppendResult.INCONSISTENCY, 1L);
                assertThat(ids(group)).containsExactlyInAnyOrder("a", "b", "c", "d");
            }
        }
    }

    /** Tests that a slow append request, for example one that waits for the disk, delays no heartbeats. */
    @Test
    void heartbeatDoesNotWaitForAppendRequest() {
        CompletableFuture<Void> append = new CompletableFuture<>();
        CompletableFuture<Void> heartbeat = new CompletableFuture<>();
        RaftRpcGuard guard = new RaftRpcGuard(currentDirectory, () -> division(fsynced));
        ServerCall.Listener<Object> requests =
                guard.interceptCall(new Call(), new Metadata(), (call, headers) -> new ServerCall.Listener<>() {
                    @Override
                    public void onMessage(Object request) {
                        if (((AppendEntriesRequestProto) request).getEntriesCount() == 0) {
                            heartbeat.complete(null);
                        } else {
                            append.complete(null);
                            assertThat(heartbeat).succeedsWithin(Duration.ofSeconds(10));
                        }
                    }
                });
        try (Crew crew = new Crew()) {
            crew.add(() -> requests.onMessage(AppendEntriesRequestProto.newBuilder()
                    .addEntries(LogEntryProto.getDefaultInstance())
                    .build()));
            crew.add(() -> {
                append.join();
                requests.onMessage(AppendEntriesRequestProto.getDefaultInstance());
            });
            crew.run();
        }
    }

    /** Tests that members in a notification replace members that only an earlier leader has appended. */
    @Test
    void notificationReplacesMembersOfEarlierLeader() throws Exception {
        try (Group group = new Group(directory)) {
            group.create("b");
            try (Connection leader = new Connection(group)) {
                assertThat(leader.reply(append(group, "a", 5, -1, members(group, 5), withNodeD(group)))
                                .getResult())
                        .isEqualTo(AppendResult.SUCCESS);
                assertThat(ids(group)).containsExactlyInAnyOrder("a", "b", "c", "d");
                assertThat(leader.result(notification(append(group, "c", 6, -1, members(group, 5)))))
                        .isEqualTo(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE);
                assertThat(ids(group)).containsExactlyInAnyOrder("a", "b", "c");

                assertThat(leader.result(notification(append(group, "a", 5, -1, withNodeD(group)))))
                        .isEqualTo(InstallSnapshotResult.NOT_LEADER);
                assertThat(ids(group)).containsExactlyInAnyOrder("a", "b", "c");
            }
        }
    }

    /** Returns the members with which the leader of term 5 replaces the initial members. */
    private static LogEntryProto withNodeD(Group group) {
        return members(5, 1, Stream.concat(group.nodes().stream(), Stream.of(new Node("d", "127.0.0.1", 7000))));
    }

    /** Returns a leader's notification that node b may need a snapshot, with the members of an append request. */
    private static InstallSnapshotRequestProto notification(AppendEntriesRequestProto append) {
        return InstallSnapshotRequestProto.newBuilder()
                .setServerRequest(append.getServerRequest())
                .setLeaderTerm(append.getLeaderTerm())
                .setLastRaftConfigurationLogEntryProto(append.getEntries(0))
                .setNotification(InstallSnapshotRequestProto.NotificationProto.newBuilder()
                        .setFirstAvailableTermIndex(
                                TermIndex.valueOf(append.getLeaderTerm(), 0).toProto()))
                .build();
    }

    private static List<String> ids(Group group) {
        return group.member("b").nodes().stream().map(Node::id).toList();
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
        return members(term, 0, group.nodes().stream());
    }

    private static LogEntryProto members(long term, long index, Stream<Node> nodes) {
        RaftConfigurationProto.Builder members = RaftConfigurationProto.newBuilder();
        nodes.forEach(node -> members.addPeers(Membership.peer(node).getRaftPeerProto()));
        return LogEntryProto.newBuilder()
                .setTerm(term)
                .setIndex(index)
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

    /** A connection of a leader to node b. */
    private static final class Connection implements AutoCloseable {
        private final ManagedChannel channel;
        private final RaftServerProtocolServiceGrpc.RaftServerProtocolServiceStub node;
        private final Replies<AppendEntriesReplyProto> replies = new Replies<>();
        private final StreamObserver<AppendEntriesRequestProto> requests;

        Connection(Group group) {
            channel = NettyChannelBuilder.forAddress("127.0.0.1", port(group, "b"))
                    .usePlaintext()
                    .build();
            node = RaftServerProtocolServiceGrpc.newStub(channel);
            requests = node.appendEntries(replies);
        }

        AppendEntriesReplyProto reply(AppendEntriesRequestProto request) throws InterruptedException {
            requests.onNext(request);
            return replies.next();
        }

        InstallSnapshotResult result(InstallSnapshotRequestProto request) throws InterruptedException {
            Replies<InstallSnapshotReplyProto> results = new Replies<>();
            node.installSnapshot(results).onNext(request);
            return results.next().getResult();
        }

        @Override
        public void close() {
            requests.onCompleted();
            channel.shutdownNow();
        }
    }

    private static final class Replies<T> implements StreamObserver<T> {
        private final BlockingQueue<T> received = new LinkedBlockingQueue<>();

        T next() throws InterruptedException {
            return Objects.requireNonNull(received.poll(60, TimeUnit.SECONDS), "node b did not reply");
        }

        @Override
        public void onNext(T reply) {
            received.add(reply);
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
