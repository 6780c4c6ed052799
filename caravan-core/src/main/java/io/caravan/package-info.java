/**
 * The public API of Caravan: a durable store of append-only lists of byte values, one list per document.
 *
 * <p>Start with the contract, {@link io.caravan.ListStore}, and its durable implementation, {@link
 * io.caravan.DurableListStore}. {@code ListStore.inMemory()} opens a store without a disk, for tests. {@link
 * io.caravan.StoreConfig} contains every setting. All exceptions extend {@link io.caravan.CaravanException}.
 */
@NullMarked
package io.caravan;

import org.jspecify.annotations.NullMarked;
