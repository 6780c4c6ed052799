package io.caravan.server.cluster;

import io.caravan.cluster.Node;
import io.caravan.server.config.HostPort;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A Raft group: its initial nodes, and the range of hash slots whose documents they replicate. */
public record ClusterGroup(UUID id, SlotRange slots, List<ClusterNode> nodes) {
    public ClusterGroup {
        nodes = List.copyOf(nodes);
    }

    /**
     * Creates a group. Its id is derived from its slots, so that nodes whose files divide the slots differently reject
     * each other. The only group of a cluster has the id of the cluster.
     */
    public static ClusterGroup of(UUID cluster, SlotRange slots, List<ClusterNode> nodes) {
        UUID id = slots.equals(SlotRange.ALL)
                ? cluster
                : UUID.nameUUIDFromBytes((cluster + " " + slots).getBytes(StandardCharsets.UTF_8));
        return new ClusterGroup(id, slots, nodes);
    }

    /** Returns members by id, with their client addresses from the file, or else as they recorded them. */
    List<ClusterNode> described(List<Node> members) {
        return members.stream()
                .flatMap(member -> described(member).stream())
                .sorted(Comparator.comparing(ClusterNode::id))
                .toList();
    }

    /** Returns one member as {@link #described(List)} does; empty if its client addresses are unknown. */
    Optional<ClusterNode> described(Node member) {
        return nodes.stream()
                .filter(node -> node.id().equals(member.id())
                        && node.peer().equals(new HostPort(member.address(), member.port())))
                .findFirst()
                .or(() -> ClusterNode.of(member));
    }
}
