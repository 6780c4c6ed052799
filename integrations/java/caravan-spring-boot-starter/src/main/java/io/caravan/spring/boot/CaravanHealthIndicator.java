package io.caravan.spring.boot;

import io.caravan.ListStore;
import io.caravan.StoreStats;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * A health indicator that is UP while the store can make writes durable and DOWN once it has failed or is closed. A
 * check waits for pending writes, as a read does.
 */
public class CaravanHealthIndicator extends AbstractHealthIndicator {
    private final ListStore store;

    /** Creates an indicator of this store's health. */
    public CaravanHealthIndicator(ListStore store) {
        super("the store takes no writes");
        this.store = store;
    }

    /** Adds the name of the store, the number of lists, and the bytes of live values as details. */
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
