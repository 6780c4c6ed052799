package io.caravan.cluster;

import io.caravan.DurableListStore;

/**
 * Receives notifications when this node starts or stops leading its group. Called on one thread, one call at a time. If
 * a method throws an exception, the node leaves the group; {@link GroupMember#takesPart()} then returns false.
 */
public interface LeadershipListener {
    /**
     * Reports that this node leads and the store, which has every acknowledged write of the group, accepts writes.
     *
     * @param store remains owned by the member; do not close it
     * @throws io.caravan.CaravanException if the store has failed. If it failed because this node no longer leads, the
     *     node remains in the group, and {@code follows} is called
     */
    void leads(DurableListStore store);

    /**
     * Reports that this node no longer leads. The store that was passed to {@code leads} has failed or is about to be
     * closed. Return only when that store is no longer in use.
     */
    void follows();
}
