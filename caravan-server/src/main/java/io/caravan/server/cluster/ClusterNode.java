package io.caravan.server.cluster;

import io.caravan.cluster.Node;
import io.caravan.server.config.HostPort;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A node of the cluster; the other nodes use its {@code peer} and {@code http} addresses. */
public record ClusterNode(String id, HostPort peer, HostPort resp, HostPort http) {
    private static final String SEPARATOR = " ";

    List<HostPort> addresses() {
        return List.of(peer, resp, http);
    }

    /** Returns the node as a member of the group. */
    public Node member() {
        return new Node(id, peer.host(), peer.port(), resp + SEPARATOR + http);
    }

    /** Decodes a node that {@link #member()} encoded; empty if the member's note does not contain its addresses. */
    static Optional<ClusterNode> of(Node member) {
        String[] addresses = member.note().split(SEPARATOR);
        return addresses.length == 2
                ? Optional.of(new ClusterNode(
                        member.id(),
                        new HostPort(member.address(), member.port()),
                        HostPort.parse(addresses[0]),
                        HostPort.parse(addresses[1])))
                : Optional.empty();
    }

    /** Returns the stable id with which Redis clients identify the node: 40 hexadecimal digits. */
    public String nodeId(UUID group) {
        try {
            byte[] name = (group + " " + id).getBytes(StandardCharsets.UTF_8);
            return ByteBufUtil.hexDump(MessageDigest.getInstance("SHA-1").digest(name));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
