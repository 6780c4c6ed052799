/**
 * Adapts other embeddable stores to a common interface for append-only lists, for comparison with Caravan.
 *
 * <p>{@link io.caravan.bench.peers.Peer} lists them. Each is a small {@link io.caravan.bench.peers.PeerStore} whose
 * comment explains its settings: the fastest ones that still allow a fair comparison. Except for the queue, all stores
 * keep an entry under a key of {@link io.caravan.bench.peers.EntryKeys}. The key consists of the document and a number
 * that increases with every entry of the store, so that a list is a range of keys. If many writers wait,
 * {@link io.caravan.bench.peers.GroupCommit} runs in front of a store.
 */
@NullMarked
package io.caravan.bench.peers;

import org.jspecify.annotations.NullMarked;
