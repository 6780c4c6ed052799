package io.caravan.server.cluster;

import io.caravan.cluster.Host;
import io.caravan.server.config.HostPort;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;
import java.util.UUID;

/**
 * A host of the cluster.
 *
 * @param id its name, as {@link Host} has it
 * @param peer where the other hosts reach it
 * @param resp where clients reach it with RESP
 * @param http where clients and the other hosts reach it with HTTP
 */
public record ClusterHost(String id, HostPort peer, HostPort resp, HostPort http) {
    private static final String SEPARATOR = " ";

    /** The host as a member of the group. */
    public Host member() {
        return new Host(id, peer.host(), peer.port(), resp + SEPARATOR + http);
    }

    /** What {@link #member()} was made of; nothing when the member says nothing of its addresses. */
    static Optional<ClusterHost> of(Host member) {
        String[] addresses = member.note().split(SEPARATOR);
        return addresses.length == 2
                ? Optional.of(new ClusterHost(
                        member.id(),
                        new HostPort(member.address(), member.port()),
                        HostPort.parse(addresses[0]),
                        HostPort.parse(addresses[1])))
                : Optional.empty();
    }

    /** What Redis's clients know the host by: 40 hexadecimal digits that stay the same. */
    public String nodeId(UUID group) {
        try {
            byte[] name = (group + " " + id).getBytes(StandardCharsets.UTF_8);
            return ByteBufUtil.hexDump(MessageDigest.getInstance("SHA-1").digest(name));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
