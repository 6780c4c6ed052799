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

/** What this host's Raft knows of the group. Thread-safe. */
final class RaftView {
    private static final Logger LOG = LoggerFactory.getLogger(RaftView.class);
    /** The Raft log is not kept for a host that was sent files and has said nothing for so long. */
    private static final long GONE_MILLIS = 30_000;

    private final RaftServer server;
    private final RaftGroupId group;

    RaftView(RaftServer server, RaftGroupId group) {
        this.server = server;
        this.group = group;
    }

    /**
     * This host's part in the group.
     *
     * @throws IOException when it takes part no longer
     */
    RaftServer.Division division() throws IOException {
        return server.getDivision(group);
    }

    /** Whether this host leads, and has applied everything that was committed before. */
    boolean isLeaderReady() {
        try {
            return division().getInfo().isLeaderReady();
        } catch (IOException gone) {
            return false;
        }
    }

    /** Whether this host leads, and another is one that it leads. */
    boolean isFollower(String host) {
        return followers(host).findAny().isPresent();
    }

    /** Whether this host leads another no more, or has not heard of it for long. */
    boolean isGone(String host) {
        return followers(host).allMatch(follower -> follower.getLastRpcElapsedTimeMs() > GONE_MILLIS);
    }

    private Stream<ServerRpcProto> followers(String host) {
        try {
            return division().getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
                    .filter(follower -> follower.getId().getId().toStringUtf8().equals(host));
        } catch (IOException left) {
            return Stream.empty();
        }
    }

    /**
     * Ends the connections that this host has made to others, of which it needs none while it follows. gRPC waits before it
     * tries one again that has failed, longer each time: without this, a host that is back would not be asked for its vote
     * for some seconds.
     *
     * <p>Returns at once. Ratis lets calls end that are under way, for seconds if a host hangs, and whoever is told of a
     * new leader holds the lock without which this host can neither follow nor vote. A host that leads keeps what it has.
     */
    void endConnections() {
        if (server.getServerRpc() instanceof RaftServerRpcWithProxy<?, ?> rpc) {
            try {
                RaftServer.Division division = division();
                division.getRaftConf().getCurrentPeers().stream()
                        .map(RaftPeer::getId)
                        .filter(id -> !id.equals(server.getId()))
                        .forEach(id -> endConnection(rpc, division, id));
            } catch (IOException left) {
                LOG.debug("{}: takes no part in its group any more", server.getId(), left);
            }
        }
    }

    private void endConnection(RaftServerRpcWithProxy<?, ?> rpc, RaftServer.Division division, RaftPeerId id) {
        Runnable end = () -> {
            if (!division.getInfo().isLeader()) {
                rpc.getProxies().resetProxy(id);
            }
        };
        Thread thread = new Thread(end, "caravan-connection " + server.getId() + " " + id);
        thread.setDaemon(true);
        thread.start();
    }

    /** The entry up to which each host is known to have been told that all is committed. */
    static Map<RaftPeerId, Long> committed(RaftServer.Division division) {
        return division.getCommitInfos().stream()
                .collect(Collectors.toMap(
                        known -> RaftPeerId.valueOf(known.getServer().getId()), CommitInfoProto::getCommitIndex));
    }
}
