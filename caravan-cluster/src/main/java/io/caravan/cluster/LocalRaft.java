package io.caravan.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's Raft server: provides the state of the group as known to the server, and sends it requests, each with a
 * unique call id. Requests are never resent, because the outcome of the first attempt would be unknown. Thread-safe.
 */
final class LocalRaft {
    private static final Logger LOG = LoggerFactory.getLogger(LocalRaft.class);
    /** The time without contact after which the Raft log is no longer kept for a node that was sent a snapshot. */
    private static final long GONE_MILLIS = 30_000;

    private final RaftServer server;
    private final RaftGroupId group;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong();
    /** The number of entries that this node has proposed and whose outcome is not known yet. */
    private final AtomicInteger inProgress = new AtomicInteger();

    LocalRaft(RaftServer server, RaftGroupId group) {
        this.server = server;
        this.group = group;
    }

    /** Returns this node's division of the group, if the node still participates. */
    RaftServer.Division division() throws IOException {
        return server.getDivision(group);
    }

    /** Returns the division, or throws an unchecked exception if the node no longer participates. */
    RaftServer.Division joinedDivision() {
        try {
            return division();
        } catch (IOException gone) {
            throw new IllegalStateException("node " + server.getId() + " has left the group", gone);
        }
    }

    /** Whether this node leads, and has applied every entry that was committed before its term. */
    boolean isLeaderReady() {
        try {
            return division().getInfo().isLeaderReady();
        } catch (IOException gone) {
            return false;
        }
    }

    /** Whether this node leads, and the given node follows it. */
    boolean isFollower(String node) {
        return followers(node).findAny().isPresent();
    }

    /** Whether the given node has stopped following this node, or has sent nothing for {@code GONE_MILLIS}. */
    boolean isGone(String node) {
        return followers(node).allMatch(follower -> follower.getLastRpcElapsedTimeMs() > GONE_MILLIS);
    }

    private Stream<ServerRpcProto> followers(String node) {
        try {
            return division().getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
                    .filter(follower -> follower.getId().getId().toStringUtf8().equals(node));
        } catch (IOException left) {
            return Stream.empty();
        }
    }

    /**
     * Closes this node's connections to other nodes, because a follower does not need them. gRPC waits longer and
     * longer before it retries one, and this node would not ask a restarted node for its vote for several seconds.
     *
     * <p>Returns at once, because the caller may hold the lock that this node needs to follow and to vote. Ratis lets
     * calls in progress finish, which takes seconds if a node hangs. A leader keeps its connections.
     */
    void endConnections() {
        if (server.getServerRpc() instanceof RaftServerRpcWithProxy<?, ?> rpc) {
            try {
                RaftServer.Division division = division();
                division.getRaftConf().getCurrentPeers().stream()
                        .map(RaftPeer::getId)
                        .filter(id -> !id.equals(server.getId()))
                        .forEach(id -> {
                            Runnable end = () -> {
                                if (!division.getInfo().isLeader()) {
                                    rpc.getProxies().resetProxy(id);
                                }
                            };
                            new DaemonThread(end, "caravan-connection " + server.getId() + " " + id).start();
                        });
            } catch (IOException left) {
                LOG.debug("{}: has left its group", server.getId(), left);
            }
        }
    }

    /** Returns the last known commit index of each node. */
    static Map<RaftPeerId, Long> committed(RaftServer.Division division) {
        return division.getCommitInfos().stream()
                .collect(Collectors.toMap(
                        known -> RaftPeerId.valueOf(known.getServer().getId()), CommitInfoProto::getCommitIndex));
    }

    /** Whether this node has proposed entries whose outcome is not known yet. */
    boolean hasRequestsInProgress() {
        return inProgress.get() > 0;
    }

    CompletableFuture<Void> commitEmptyEntry() {
        return commit(ByteString.EMPTY);
    }

    /** Proposes an entry. Completes when it is committed in this node's term, and this node has applied it. */
    CompletableFuture<Void> commit(ByteString entry) {
        CompletableFuture<Void> committed = new CompletableFuture<>();
        inProgress.incrementAndGet();
        committed.whenComplete((done, failed) -> inProgress.decrementAndGet());
        try {
            server.submitClientRequestAsync(request(entry)).whenComplete((reply, problem) -> {
                Throwable failure = problem != null ? problem : failure(reply);
                if (failure == null) {
                    committed.complete(null);
                } else {
                    committed.completeExceptionally(failure);
                }
            });
        } catch (IOException | RuntimeException failed) {
            committed.completeExceptionally(failed);
        }
        return committed;
    }

    private RaftClientRequest request(ByteString entry) {
        return RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(server.getId())
                .setGroupId(group)
                .setCallId(calls.incrementAndGet())
                .setMessage(Message.valueOf(entry))
                .setType(RaftClientRequest.writeRequestType())
                .build();
    }

    /**
     * Offers leadership to another node, once, and waits until that node leads or the time is over.
     *
     * @return null if the other node leads
     */
    @Nullable
    Throwable offerLeadership(String node, long millis) throws IOException {
        return failure(server.transferLeadership(new TransferLeadershipRequest(
                client, server.getId(), group, calls.incrementAndGet(), RaftPeerId.valueOf(node), millis)));
    }

    /** Ends this node's term as the leader. A membership change in progress then fails. */
    void stepDown(Duration timeout) throws IOException {
        server.transferLeadershipAsync(new TransferLeadershipRequest(
                client, server.getId(), group, calls.incrementAndGet(), null, timeout.toMillis()));
    }

    /** Requests a change of the members. */
    CompletableFuture<RaftClientReply> setMembers(SetConfigurationRequest.Arguments nodes) throws IOException {
        return server.setConfigurationAsync(
                new SetConfigurationRequest(client, server.getId(), group, calls.incrementAndGet(), nodes));
    }

    private static @Nullable Throwable failure(RaftClientReply reply) {
        if (reply.isSuccess()) {
            return null;
        }
        Throwable exception = reply.getException();
        return exception != null ? exception : new IOException("Raft rejected the entry: " + reply);
    }
}
