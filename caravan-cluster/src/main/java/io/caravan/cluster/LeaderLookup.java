package io.caravan.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queries the nodes of a group for the group's leader, one node at a time. The caller need not be a node. A connection
 * stays open as long as its node responds. Not thread-safe.
 */
public final class LeaderLookup implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderLookup.class);

    private final UUID group;
    private final GroupConfig.@Nullable Tls tls;
    private final TimeDuration timeout;
    private @Nullable Node queried;
    private @Nullable RaftClient client;

    /**
     * A node's view of its group.
     *
     * @param nodes the voting members, in no particular order
     * @param leader the id of the leader, as far as the node knows; null if it knows of none
     */
    public record Reply(List<Node> nodes, @Nullable String leader) {}

    /**
     * Creates a lookup, which opens connections only when it queries nodes.
     *
     * @param tls the files with which the nodes and the caller authenticate to each other; null if TLS is not used
     * @param timeout the maximum time to wait for a node's response
     */
    public LeaderLookup(UUID group, GroupConfig.@Nullable Tls tls, Duration timeout) {
        this.group = group;
        this.tls = tls;
        this.timeout = TimeDuration.valueOf(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns a node's view of its group; empty if the node does not respond in time or is not in the group. */
    public Optional<Reply> query(Node node) {
        Optional<Reply> result = reply(node)
                .map(reply -> new Reply(
                        reply.getConf()
                                .map(nodes -> nodes.getPeersList().stream()
                                        .map(Membership::node)
                                        .toList())
                                .orElse(List.of()),
                        leader(reply.getRoleInfoProto())));
        if (result.isEmpty()) {
            close();
        }
        return result;
    }

    /** Returns the information that a node reports about its group; empty if the node does not respond in time. */
    Optional<GroupInfoReply> reply(Node node) {
        try {
            return Optional.of(clientOf(node)
                            .getGroupManagementApi(RaftPeerId.valueOf(node.id()))
                            .info(RaftGroupId.valueOf(group)))
                    .filter(GroupInfoReply::isSuccess);
        } catch (IOException | StatusRuntimeException silent) {
            LOG.debug("node {} did not return the members of group {}", node, group, silent);
            return Optional.empty();
        }
    }

    /** Returns the facts that a node reports to a newly started node; empty if there is no response in time. */
    Optional<NodeFacts> facts(Node node, String sender) {
        try {
            RaftClientReply reply = clientOf(node)
                    .io()
                    .sendStaleRead(
                            Message.valueOf(NodeFacts.question(sender)),
                            RaftLog.INVALID_LOG_INDEX,
                            RaftPeerId.valueOf(node.id()));
            return reply.isSuccess()
                    ? Optional.of(NodeFacts.decode(reply.getMessage().getContent()))
                    : Optional.empty();
        } catch (IOException | StatusRuntimeException silent) {
            LOG.debug("node {} did not return its settings in group {}", node, group, silent);
            return Optional.empty();
        }
    }

    private RaftClient clientOf(Node node) {
        RaftClient kept = client;
        if (kept != null && node.equals(queried)) {
            return kept;
        }
        close();
        RaftClient made = RaftSettings.client(new RaftProperties(), group, tls, Membership.peer(node), timeout);
        client = made;
        queried = node;
        return made;
    }

    private static @Nullable String leader(RoleInfoProto role) {
        return switch (role.getRole()) {
            case LEADER -> role.getSelf().getId().toStringUtf8();
            case FOLLOWER -> {
                String known =
                        role.getFollowerInfo().getLeaderInfo().getId().getId().toStringUtf8();
                yield known.isEmpty() ? null : known;
            }
            default -> null;
        };
    }

    @Override
    public void close() {
        RaftClient kept = client;
        client = null;
        if (kept != null) {
            try {
                kept.close();
            } catch (IOException problem) {
                LOG.debug("the connection to node {} was not closed cleanly", queried, problem);
            }
        }
    }
}
