/**
 * Simulates the loss of a host: kills a server under load and deletes its disk, restores from the archive, and compares
 * the result with the replies that clients received.
 *
 * <p>{@link io.caravan.torture.hostloss.HostLossMain} runs rounds of {@link io.caravan.torture.hostloss.HostLossDrill}.
 * In a round, the connections of {@link io.caravan.torture.hostloss.Load} write to their own documents, one request
 * after another. They record their requests and the times of the replies in each document's {@link
 * io.caravan.torture.hostloss.DocumentHistory}. A restored document must match one moment of its history, no earlier
 * than the last moment that the archive must contain.
 */
@NullMarked
package io.caravan.torture.hostloss;

import org.jspecify.annotations.NullMarked;
