package io.caravan.cluster;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A membership change: a node joins, leaves, or replaces another node.
 *
 * @param leaving the id of the node that leaves; null if no node leaves
 * @param joining the node that joins; null if no node joins
 */
record MembershipChange(@Nullable String leaving, @Nullable Node joining) {

    /**
     * Checks whether a group with these nodes can make the change.
     *
     * @param reachable whether a node is known to respond
     * @throws IllegalArgumentException if the group cannot make the change
     */
    void check(List<Node> nodes, String leader, Predicate<String> reachable) {
        if (leaving != null) {
            checkLeaving(leaving, nodes, leader, reachable);
        }
        if (joining != null) {
            checkJoining(joining, nodes);
        }
        List<String> staying =
                nodes.stream().map(Node::id).filter(id -> !id.equals(leaving)).toList();
        int joins = joining == null ? 0 : 1;
        int size = staying.size() + joins;
        // A joining node counts as responding, because otherwise the change fails.
        long replying = joins + staying.stream().filter(reachable).count();
        if (2 * replying <= size) {
            throw new IllegalArgumentException("of the " + size + " nodes that the group would have, only " + replying
                    + " can be reached, which is not a majority: the group would stop. Start the other nodes, or"
                    + " replace a node that is lost");
        }
    }

    private static void checkLeaving(String id, List<Node> nodes, String leader, Predicate<String> reachable) {
        if (nodes.stream().noneMatch(node -> node.id().equals(id))) {
            throw new IllegalArgumentException("the group has no node " + id + "; its nodes are " + nodes);
        }
        if (id.equals(leader)) {
            throw new IllegalArgumentException("node " + id
                    + " is the leader: transfer leadership to another node, and send the change to that node");
        }
        // If the leader fails during the change, the vote of the leaving node may be needed. A node that keeps running
        // may be unable to vote then. A stopped node can be started again to vote.
        if (reachable.test(id)) {
            throw new IllegalArgumentException(
                    "node " + id + " responded a moment ago: stop it, and try again after some seconds");
        }
    }

    private static void checkJoining(Node joining, List<Node> nodes) {
        for (Node node : nodes) {
            if (node.id().equals(joining.id())) {
                throw new IllegalArgumentException("the group already has a node " + node.id() + ", at "
                        + node.authority() + ": a new node needs another id");
            }
            // This includes the address of a node that leaves, because that node may be restarted.
            if (node.authority().equals(joining.authority())) {
                throw new IllegalArgumentException(
                        "node " + node.id() + " already has the address " + node.authority());
            }
        }
    }

    @Override
    public String toString() {
        if (joining == null) {
            return "node " + leaving + " leaves the group";
        }
        return "node " + joining + (leaving == null ? " joins the group" : " replaces node " + leaving);
    }
}
