/**
 * Other embeddable stores behind a common interface of append-only lists, for comparison with Caravan.
 *
 * <p>{@link io.caravan.bench.peers.Peer} lists them. Each is a small {@link io.caravan.bench.peers.PeerStore} whose
 * comment explains its settings, which are the best that are fair. All except the queue store an entry under a key of
 * {@link io.caravan.bench.peers.EntryKeys}: the document, then a number that increases with every entry of the store,
 * so that a list is a range of keys. {@link io.caravan.bench.peers.GroupCommit} runs in front of a store when many
 * writers wait.
 */
@NullMarked
package io.caravan.bench.peers;

import org.jspecify.annotations.NullMarked;
