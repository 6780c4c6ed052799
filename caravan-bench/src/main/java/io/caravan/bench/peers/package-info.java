/**
 * Other stores that a JVM can embed, made to hold append-only lists, so that Caravan can be measured beside them.
 *
 * <p>{@link io.caravan.bench.peers.Peer} lists them. Each is a small {@link io.caravan.bench.peers.PeerStore} whose comment
 * says which settings it has and why they are the best that are honest. All but the queue keep an entry under the key
 * {@link io.caravan.bench.peers.EntryKeys} makes: the document, then a count that rises with every entry of the store, so
 * that a list is a range of keys. {@link io.caravan.bench.peers.GroupCommit} stands in front of one when many writers wait.
 */
@NullMarked
package io.caravan.bench.peers;

import org.jspecify.annotations.NullMarked;
