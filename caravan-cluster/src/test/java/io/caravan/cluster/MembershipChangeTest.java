package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests of membership changes that a group accepts or rejects. Node a is the leader. */
final class MembershipChangeTest {
    private static final Node A = new Node("a", "127.0.0.1", 1);
    private static final Node B = new Node("b", "127.0.0.1", 2);
    private static final Node C = new Node("c", "127.0.0.1", 3);
    private static final Node D = new Node("d", "127.0.0.1", 4);

    private static void check(@Nullable String leaving, @Nullable Node joining, List<Node> nodes, String... reachable) {
        new MembershipChange(leaving, joining).check(nodes, "a", Set.of(reachable)::contains);
    }

    private static void assertRejected(
            String why, @Nullable String leaving, @Nullable Node joining, String... reachable) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> check(leaving, joining, List.of(A, B, C), reachable))
                .withMessageContaining(why);
    }

    @Test
    void rejectsDuplicateIdsAndAddresses() {
        assertRejected("already has a node a", null, new Node("a", "127.0.0.1", 4), "a", "b", "c");
        assertRejected("already has the address 127.0.0.1:2", null, new Node("d", "127.0.0.1", 2), "a", "b", "c");
        assertRejected("needs another id", "c", new Node("c", "127.0.0.1", 4), "a", "b");
        assertRejected("already has the address 127.0.0.1:3", "c", new Node("d", "127.0.0.1", 3), "a", "b");
    }

    @Test
    void rejectsRemovalOfLeader() {
        assertRejected("transfer leadership to another node", "a", null, "a", "b", "c");
        assertRejected("transfer leadership to another node", "a", D, "a", "b", "c");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> check("a", null, List.of(A), "a"))
                .withMessageContaining("is the leader");
    }

    @Test
    void rejectsRemovalOfUnknownNode() {
        assertRejected("has no node z", "z", null, "a", "b", "c");
    }

    @Test
    void rejectsRemovalOfRespondingNode() {
        assertRejected("node c responded a moment ago: stop it", "c", null, "a", "b", "c");
        assertRejected("node c responded a moment ago: stop it", "c", D, "a", "b", "c");
    }

    @Test
    void requiresReachableMajorityAfterChange() {
        assertRejected("of the 2 nodes that the group would have, only 1 can be reached", "b", null, "a");
        check("b", null, List.of(A, B, C), "a", "c");
        check("b", D, List.of(A, B, C), "a", "c");
        check(null, D, List.of(A, B, C), "a", "c");
        check("b", null, List.of(A, B), "a");
    }

    @Test
    void describesChange() {
        assertThat(new MembershipChange(null, D)).hasToString("node d@127.0.0.1:4 joins the group");
        assertThat(new MembershipChange("c", null)).hasToString("node c leaves the group");
        assertThat(new MembershipChange("c", D)).hasToString("node d@127.0.0.1:4 replaces node c");
    }
}
