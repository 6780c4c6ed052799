package io.caravan.spring.boot;

import io.caravan.ListStore;
import io.caravan.StoreStats;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports UP while the store can make writes durable, and DOWN after the store has failed or has been closed. A check
 * waits for the writes that are in progress.
 */
public class CaravanHealthIndicator extends AbstractHealthIndicator {
    private final ListStore store;

    /** Creates a health indicator for this store. */
    public CaravanHealthIndicator(ListStore store) {
        super("the store takes no writes");
        this.store = store;
    }

    /** Checks health with a flush. The details are the store's name, number of lists, and bytes of live values. */
    @Override
    protected void doHealthCheck(Health.Builder builder) {
        StoreStats stats = store.stats();
        builder.withDetail("store", stats.name())
                .withDetail("lists", stats.lists())
                .withDetail("usedBytes", stats.heap().usedBytes());
        store.flush();
        builder.up();
    }
}
