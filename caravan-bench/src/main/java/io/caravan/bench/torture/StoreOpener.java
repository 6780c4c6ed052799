package io.caravan.bench.torture;

import io.caravan.ListStore;
import io.caravan.StoreConfig;

/** Opens the store under test; tests substitute one that breaks its promises. */
@FunctionalInterface
public interface StoreOpener {
    ListStore open(StoreConfig config);
}
