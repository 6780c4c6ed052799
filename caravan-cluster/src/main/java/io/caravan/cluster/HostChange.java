package io.caravan.cluster;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A change of a group's hosts: one joins, one leaves, or one takes another's place.
 *
 * @param leaving the id of the host that leaves; null when none does
 * @param joining the host that joins; null when none does
 */
record HostChange(@Nullable String leaving, @Nullable Host joining) {

    /**
     * Checks that a group can take the change.
     *
     * @param hosts the group's, before the change
     * @param leader the id of the one that leads
     * @param reachable whether a host is known to answer
     * @throws IllegalArgumentException when it cannot
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
        // Who joins answers, or the change does not come about.
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
        // If the leader were lost at the wrong moment, a host that runs could neither vote nor be elected, and its vote
        // be needed. One that is stopped has its old entries, and is started again.
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
            // That of a host that leaves, too: it may come back.
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
