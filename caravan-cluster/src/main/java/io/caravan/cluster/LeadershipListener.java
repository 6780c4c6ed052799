package io.caravan.cluster;

import io.caravan.DurableListStore;

/** Learns whether this host leads its group; called on one thread, in turn. */
public interface LeadershipListener {
    /**
     * This host leads: the store takes writes. It has everything that the group has ever acknowledged.
     *
     * @param store stays the member's; do not close it
     */
    void leads(DurableListStore store);

    /**
     * This host leads no longer. The store that it was given has failed, or is about to be closed; return when nobody
     * uses it any more.
     */
    void follows();
}
