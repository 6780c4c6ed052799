package io.caravan.cluster;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;

/** What this host's Raft knows of the group. Thread-safe. */
final class RaftView {
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

    /** The entry up to which each host is known to have been told that all is committed. */
    static Map<RaftPeerId, Long> committed(RaftServer.Division division) {
        return division.getCommitInfos().stream()
                .collect(Collectors.toMap(
                        known -> RaftPeerId.valueOf(known.getServer().getId()), CommitInfoProto::getCommitIndex));
    }
}
