package io.caravan.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.config.HostPort;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Tests a node's view of the Raft groups before any leader is known. */
class ClusterTest {
    private static final UUID ID = UUID.randomUUID();

    private static final Cluster CLUSTER = new Cluster(
            ClusterFile.of(
                    ID,
                    Map.of(
                            SlotRange.ofGroup(0, 2),
                            List.of(node("a"), node("b")),
                            SlotRange.ofGroup(1, 2),
                            List.of(node("c"), node("d")))),
            "b",
            null,
            false,
            InstantSource.system());

    private static ClusterNode node(String id) {
        return new ClusterNode(id, address(id, 1), address(id, 2), address(id, 3));
    }

    private static HostPort address(String id, int port) {
        return HostPort.parse(id + ".example:" + port);
    }

    /** A node must accept the HTTP names of all groups, because relayed requests keep the name of another node. */
    @Test
    void recognizesHttpNamesOfAllGroups() {
        assertThat(List.of("a.example", "b.example", "C.example", "d.example")).allMatch(CLUSTER::hasHttpName);
        assertThat(CLUSTER.hasHttpName("e.example")).isFalse();
    }

    @Test
    void eachSlotBelongsToOneGroup() {
        GroupView own = CLUSTER.group();
        GroupView other = CLUSTER.groups().get(1);
        assertThat(CLUSTER.groups()).containsExactly(own, other);
        assertThat(List.of(0, 8191)).allMatch(slot -> CLUSTER.group(slot) == own);
        assertThat(List.of(8192, 16383)).allMatch(slot -> CLUSTER.group(slot) == other);
        for (String name : List.of("x", "y", "{x}y", "")) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            assertThat(CLUSTER.owns(bytes)).as(name).isEqualTo(CLUSTER.group(Slots.of(bytes)) == own);
        }
    }

    /** Each group must have an owner before its leader is known, or clients would assume that the cluster is broken. */
    @Test
    void namesOwnerBeforeLeaderIsKnown() {
        assertThat(CLUSTER.groups()).allMatch(group -> group.leader().isEmpty());
        assertThat(CLUSTER.group().owner()).isEqualTo(node("a"));
        assertThat(CLUSTER.groups().get(1).owner()).isEqualTo(node("c"));
    }
}
