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
record MembershipChange(@Nullable String leaving, @Nullable Host joining) {

    /**
     * Checks whether a group can make the change.
     *
     * @param hosts the members before the change
     * @param leader the id of the leader
     * @param reachable whether a node is known to respond
     * @throws IllegalArgumentException if the group cannot make the change
     */
    void check(List<Host> hosts, String leader, Predicate<String> reachable) {
        if (leaving != null) {
            checkLeaving(leaving, hosts, leader, reachable);
        }
        if (joining != null) {
            checkJoining(joining, hosts);
        }
        List<String> staying =
                hosts.stream().map(Host::id).filter(id -> !id.equals(leaving)).toList();
        int joins = joining == null ? 0 : 1;
        int size = staying.size() + joins;
        // A joining node counts as responding, because otherwise the change fails.
        long answering = joins + staying.stream().filter(reachable).count();
        if (2 * answering <= size) {
            throw new IllegalArgumentException("of the " + size + " hosts that the group would have only " + answering
                    + " can be reached, which is no majority: the group would stop. Start the others, or replace one that"
                    + " is lost for good");
        }
    }

    private static void checkLeaving(String id, List<Host> hosts, String leader, Predicate<String> reachable) {
        if (hosts.stream().noneMatch(host -> host.id().equals(id))) {
            throw new IllegalArgumentException("the group has no host " + id + ", but " + hosts);
        }
        if (id.equals(leader)) {
            throw new IllegalArgumentException(
                    "host " + id + " leads: hand leadership to another host first, and ask that one");
        }
        // If the leader fails during the change, the vote of the leaving node may be needed. A node that keeps running
        // may be unable to vote then. A stopped node can be started again to vote.
        if (reachable.test(id)) {
            throw new IllegalArgumentException(
                    "host " + id + " answered a moment ago: stop it first, and ask again some seconds later");
        }
    }

    private static void checkJoining(Host joining, List<Host> hosts) {
        for (Host host : hosts) {
            if (host.id().equals(joining.id())) {
                throw new IllegalArgumentException("the group has a host " + host.id() + " already, at "
                        + host.authority() + ": a new host needs an id of its own");
            }
            // This includes the address of a node that leaves, because that node may come back.
            if (host.authority().equals(joining.authority())) {
                throw new IllegalArgumentException(
                        "host " + host.id() + " has the address " + host.authority() + " already");
            }
        }
    }

    @Override
    public String toString() {
        if (joining == null) {
            return "host " + leaving + " leaves the group";
        }
        return "host " + joining + (leaving == null ? " joins the group" : " takes the place of host " + leaving);
    }
}
