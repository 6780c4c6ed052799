package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.LongTimeout;
import java.io.Closeable;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.apache.ratis.util.PeerProxyMap;
import org.junit.jupiter.api.Test;

/** Tests, without a running group, that {@link LocalRaft} closes a node's connections. */
@LongTimeout
final class LocalRaftTest {
    private static final RaftPeerId SELF = RaftPeerId.valueOf("a");
    private static final List<RaftPeer> NODES = List.of(node("a"), node("b"), node("c"));

    /**
     * Tests that closing the connections returns at once, because the caller may hold the lock that the node needs to
     * follow and to vote.
     */
    @Test
    void endingConnectionsDoesNotWaitForHungNode() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch replied = new CountDownLatch(1);
        PeerProxyMap<Closeable> connections = connections(() -> {
            ended.countDown();
            await(replied, "the node does not respond");
        });
        Closeable toC = connections.getProxy(RaftPeerId.valueOf("c"));
        try {
            assertThat(CompletableFuture.runAsync(() -> view(connections).endConnections()))
                    .succeedsWithin(30, TimeUnit.SECONDS);
            await(ended, "the connection does not end");
            assertThat(connections.getProxy(RaftPeerId.valueOf("c"))).isNotSameAs(toC);
        } finally {
            replied.countDown();
        }
    }

    private static RaftPeer node(String id) {
        return RaftPeer.newBuilder().setId(id).build();
    }

    /** Returns connections to all nodes. Each connection runs this action when it is closed. */
    private static PeerProxyMap<Closeable> connections(Runnable end) {
        PeerProxyMap<Closeable> all = new PeerProxyMap<>("connections", to -> new Closeable() {
            @Override
            public void close() {
                end.run();
            }
        });
        all.addRaftPeers(NODES);
        return all;
    }

    private static LocalRaft view(PeerProxyMap<Closeable> connections) {
        DivisionInfo info = replying(DivisionInfo.class, Map.of("isLeader", false));
        RaftConfiguration nodes = replying(RaftConfiguration.class, Map.of("getCurrentPeers", NODES));
        RaftServer.Division division =
                replying(RaftServer.Division.class, Map.of("getInfo", info, "getRaftConf", nodes));
        RaftServer server = replying(
                RaftServer.class,
                Map.of("getId", SELF, "getDivision", division, "getServerRpc", new Connected(connections)));
        return new LocalRaft(server, RaftGroupId.valueOf(new UUID(1, 2)));
    }

    private static <T> T replying(Class<T> type, Map<String, Object> replies) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> replies.get(method.getName())));
    }

    /** A stub of a Raft server that provides only connections. */
    private static final class Connected extends RaftServerRpcWithProxy<Closeable, PeerProxyMap<Closeable>> {
        Connected(PeerProxyMap<Closeable> connections) {
            super(() -> SELF, id -> connections);
        }

        @Override
        public RpcType getRpcType() {
            return SupportedRpcType.GRPC;
        }

        @Override
        protected void startImpl() {
            throw new UnsupportedOperationException();
        }

        @Override
        public InetSocketAddress getInetSocketAddress() {
            throw new UnsupportedOperationException();
        }

        @Override
        public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request) {
            throw new UnsupportedOperationException();
        }
    }
}
