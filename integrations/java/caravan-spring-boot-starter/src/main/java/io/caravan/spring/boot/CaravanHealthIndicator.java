package io.caravan.spring.boot;

import io.caravan.ListStore;
import io.caravan.StoreStats;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * UP while the store makes durable what is written, DOWN once it has failed or is closed. A look waits for the writes
 * that are under way, as a read does.
 */
public class CaravanHealthIndicator extends AbstractHealthIndicator {
    private final ListStore store;

    /** The health of this store. */
    public CaravanHealthIndicator(ListStore store) {
        super("the store takes no writes");
        this.store = store;
    }

    /** Details are the store's name, how many lists it has, and the bytes that live values take. */
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
