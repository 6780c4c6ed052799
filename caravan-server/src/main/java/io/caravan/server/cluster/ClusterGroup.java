package io.caravan.server.cluster;

import io.caravan.cluster.Host;
import io.caravan.server.config.HostPort;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Hosts that keep the same documents: those of some slots.
 *
 * @param id what no other group of any cluster is called
 * @param slots which documents the group has
 * @param hosts of a new group all; later the group itself knows which it has
 */
public record ClusterGroup(UUID id, SlotRange slots, List<ClusterHost> hosts) {
    public ClusterGroup {
        hosts = List.copyOf(hosts);
    }

    /**
     * A group of a cluster. Its id follows from its slots, so that files that divide the slots otherwise mean other groups,
     * whose hosts refuse each other; the only group of a cluster has the cluster's.
     */
    public static ClusterGroup of(UUID cluster, SlotRange slots, List<ClusterHost> hosts) {
        UUID id = slots.equals(SlotRange.ALL)
                ? cluster
                : UUID.nameUUIDFromBytes((cluster + " " + slots).getBytes(StandardCharsets.UTF_8));
        return new ClusterGroup(id, slots, hosts);
    }

    /**
     * Hosts that the group has now, by id. The file may be older than the group's hosts, or newer than their addresses for
     * clients: where it has a host by its id and peer address, it is believed.
     */
    List<ClusterHost> described(List<Host> members) {
        return members.stream()
                .flatMap(member -> described(member).stream())
                .sorted(Comparator.comparing(ClusterHost::id))
                .toList();
    }

    /** As {@link #described(List)}; nothing when neither the file nor the member itself tells where clients reach it. */
    Optional<ClusterHost> described(Host member) {
        return hosts.stream()
                .filter(host -> host.id().equals(member.id())
                        && host.peer().equals(new HostPort(member.address(), member.port())))
                .findFirst()
                .or(() -> ClusterHost.of(member));
    }

    boolean has(String host) {
        return hosts.stream().anyMatch(each -> each.id().equals(host));
    }
}
