/**
 * Caravan's public interface: a durable store of append-only byte lists, one list per document.
 *
 * <p>Start at {@link io.caravan.ListStore}, the contract, and {@link io.caravan.DurableListStore}, its durable
 * implementation; {@code ListStore.inMemory()} is the same without a disk, for tests. {@link
 * io.caravan.StoreConfig} holds every setting. All exceptions descend from {@link io.caravan.CaravanException}.
 */
@NullMarked
package io.caravan;

import org.jspecify.annotations.NullMarked;
