package io.caravan.cluster;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Provides the state of the group, as known to this node's Raft server. Thread-safe. */
final class RaftView {
    private static final Logger LOG = LoggerFactory.getLogger(RaftView.class);
    /** The time without contact after which the Raft log is no longer kept for a node that was sent a snapshot. */
    private static final long GONE_MILLIS = 30_000;

    private final RaftServer server;
    private final RaftGroupId group;

    RaftView(RaftServer server, RaftGroupId group) {
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
}
