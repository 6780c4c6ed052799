package io.caravan.spring.boot;

import io.caravan.ListStore;
import io.caravan.StoreStats;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports UP while the store makes writes durable, and DOWN once it has failed or is closed. A check waits for the
 * writes that are in progress.
 */
public class CaravanHealthIndicator extends AbstractHealthIndicator {
    private final ListStore store;

    /** Creates an indicator for this store. */
    public CaravanHealthIndicator(ListStore store) {
        super("the store takes no writes");
        this.store = store;
    }

    /**
     * Flushes the store. The details are the store's name, the number of its lists, and the bytes of its live values.
     */
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
