/**
 * The kill -9 harness.
 *
 * <p>{@link io.caravan.bench.torture.TortureMain} runs rounds of {@link io.caravan.bench.torture.Torture}, the
 * supervisor. Each round starts a child JVM ({@link io.caravan.bench.torture.TortureChild}) whose {@link
 * io.caravan.bench.torture.Worker}s write to the store at random and report to the supervisor each {@link
 * io.caravan.bench.torture.Intent} before it is submitted, and each acknowledgement. The supervisor keeps them in a
 * {@link io.caravan.bench.torture.Ledger}, kills the child, has a second child read out what the store holds ({@link
 * io.caravan.bench.torture.StoreModel}), and lets the {@link io.caravan.bench.torture.Checker} decide.
 *
 * <p>What makes the verdict exact: each list belongs to one worker, and a worker's intents reach the store in the order
 * in which they were reported. The store acknowledges in order too, so what a crash leaves of a worker's round is its
 * first so many intents: all that were acknowledged, and perhaps some of those that were under way.
 */
@NullMarked
package io.caravan.bench.torture;

import org.jspecify.annotations.NullMarked;
