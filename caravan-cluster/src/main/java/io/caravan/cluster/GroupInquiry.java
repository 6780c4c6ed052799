package io.caravan.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
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
 * Asks the hosts of a group who leads it, one host at a time; whoever asks need not be one of them. The connection to a
 * host stays as long as it answers. For one thread.
 */
public final class GroupInquiry implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GroupInquiry.class);

    private final UUID group;
    private final GroupConfig.@Nullable Tls tls;
    private final TimeDuration patience;
    private @Nullable Host asked;
    private @Nullable RaftClient client;

    /**
     * What a host says of its group.
     *
     * @param hosts those that vote, in no order
     * @param leader the id of the host that leads, as far as this one knows; null for none
     */
    public record Answer(List<Host> hosts, @Nullable String leader) {}

    /**
     * Prepares to ask.
     *
     * @param tls what the hosts prove with who they are, and this one to them; null when they do without
     * @param patience how long a host may take to answer
     */
    public GroupInquiry(UUID group, GroupConfig.@Nullable Tls tls, Duration patience) {
        this.group = group;
        this.tls = tls;
        this.patience = TimeDuration.valueOf(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** What a host says; nothing when it does not answer in time, or is not of the group. */
    public Optional<Answer> ask(Host host) {
        Optional<Answer> answer = reply(host)
                .map(reply -> new Answer(
                        reply.getConf()
                                .map(hosts -> hosts.getPeersList().stream()
                                        .map(Membership::host)
                                        .toList())
                                .orElse(List.of()),
                        leader(reply.getRoleInfoProto())));
        if (answer.isEmpty()) {
            close();
        }
        return answer;
    }

    /** All that a host says. */
    Optional<GroupInfoReply> reply(Host host) {
        try {
            return Optional.of(clientOf(host)
                            .getGroupManagementApi(RaftPeerId.valueOf(host.id()))
                            .info(RaftGroupId.valueOf(group)))
                    .filter(GroupInfoReply::isSuccess);
        } catch (IOException | StatusRuntimeException silent) {
            LOG.debug("host {} does not say who is of group {}", host, group, silent);
            return Optional.empty();
        }
    }

    /** The facts that a host tells one that starts for the first time; nothing when it does not answer in time. */
    Optional<HostFacts> facts(Host host, String asker) {
        try {
            RaftClientReply reply = clientOf(host)
                    .io()
                    .sendStaleRead(
                            Message.valueOf(HostFacts.question(asker)),
                            RaftLog.INVALID_LOG_INDEX,
                            RaftPeerId.valueOf(host.id()));
            return reply.isSuccess()
                    ? Optional.of(HostFacts.decode(reply.getMessage().getContent()))
                    : Optional.empty();
        } catch (IOException | StatusRuntimeException silent) {
            LOG.debug("host {} does not tell facts of group {}", host, group, silent);
            return Optional.empty();
        }
    }

    private RaftClient clientOf(Host host) {
        RaftClient kept = client;
        if (kept != null && host.equals(asked)) {
            return kept;
        }
        close();
        RaftClient made = RaftSettings.client(group, tls, Membership.peer(host), patience);
        client = made;
        asked = host;
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

    /** Ends the connection, if there is one. */
    @Override
    public void close() {
        RaftClient kept = client;
        client = null;
        if (kept != null) {
            try {
                kept.close();
            } catch (IOException problem) {
                LOG.debug("the connection to host {} did not end cleanly", asked, problem);
            }
        }
    }
}
