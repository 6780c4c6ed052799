package io.caravan.server.cluster;

import io.caravan.cluster.Node;
import io.caravan.server.config.HostPort;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A Raft group: the nodes that replicate the documents in a range of hash slots.
 *
 * @param id unique among the groups of all clusters
 * @param slots the slots of the group's documents
 * @param nodes the initial nodes; the group records its current members itself
 */
public record ClusterGroup(UUID id, SlotRange slots, List<ClusterNode> nodes) {
    public ClusterGroup {
        nodes = List.copyOf(nodes);
    }

    /**
     * Creates a group of a cluster. Its id is derived from its slots, so files that divide the slots differently define
     * different groups, whose nodes reject each other. The only group of a cluster has the cluster's id.
     */
    public static ClusterGroup of(UUID cluster, SlotRange slots, List<ClusterNode> nodes) {
        UUID id = slots.equals(SlotRange.ALL)
                ? cluster
                : UUID.nameUUIDFromBytes((cluster + " " + slots).getBytes(StandardCharsets.UTF_8));
        return new ClusterGroup(id, slots, nodes);
    }

    /**
     * Returns the current members of the group, sorted by id. The file may be older than the group's membership, or
     * contain newer client addresses than the members. An entry of the file applies to a member if both have the same
     * id and peer address.
     */
    List<ClusterNode> described(List<Node> members) {
        return members.stream()
                .flatMap(member -> described(member).stream())
                .sorted(Comparator.comparing(ClusterNode::id))
                .toList();
    }

    /**
     * Returns one member as {@link #described(List)} does; empty if neither the file nor the member itself contains the
     * member's client addresses.
     */
    Optional<ClusterNode> described(Node member) {
        return nodes.stream()
                .filter(node -> node.id().equals(member.id())
                        && node.peer().equals(new HostPort(member.address(), member.port())))
                .findFirst()
                .or(() -> ClusterNode.of(member));
    }
}
