/**
 * The contents that a store must have, and the verdict. The {@link io.caravan.torture.model.Ledger} records all requests
 * and messages of a round. The {@link io.caravan.torture.model.Checker} compares the {@link
 * io.caravan.torture.model.Contents} that were read with those that a {@link io.caravan.torture.model.StoreModel}
 * computes. A model implements the contract of a store in a few lines.
 *
 * <p>The verdict is exact because each list belongs to one worker, and a worker's intents reach the store in the order
 * in which they were recorded. The store also accepts and acknowledges in order. A crash therefore leaves a prefix of a
 * worker's intents in a round: all that were acknowledged or seen by a reader, and perhaps some that were in flight.
 */
@NullMarked
package io.caravan.torture.model;

import org.jspecify.annotations.NullMarked;
