/**
 * The kill -9 harness.
 *
 * <p>{@link io.caravan.bench.torture.TortureMain} runs rounds of {@link io.caravan.bench.torture.Torture}, the
 * supervisor, on a {@link io.caravan.bench.torture.Subject}: a store embedded in child processes, or the server. Each
 * round starts a {@link io.caravan.bench.torture.Session}, a process that works on the store, puts it through {@link
 * io.caravan.bench.torture.Hardships}, and ends it. What was asked and said is in the supervisor's {@link
 * io.caravan.bench.torture.Ledger}. A second session reads out what the store holds ({@link
 * io.caravan.bench.torture.Contents}), and the {@link io.caravan.bench.torture.Checker} decides.
 *
 * <p>Embedded: in the child ({@link io.caravan.bench.torture.TortureChild}) {@link io.caravan.bench.torture.Worker}s
 * write at random and report over a socket, each {@link io.caravan.bench.torture.Intent} before it is submitted, and each
 * acknowledgement. Server: {@link io.caravan.bench.torture.RespWorker}s in the supervisor are its clients, and enter what
 * they ask and hear themselves. Each subject has a {@link io.caravan.bench.torture.StoreModel}, the contract in a few
 * lines: with sequences for one, with the positions of RESP for the other.
 *
 * <p>What makes the verdict exact: each list belongs to one worker, and a worker's intents reach the store in the order
 * in which they were recorded. The store accepts and acknowledges in order too, so what a crash leaves of a worker's round
 * is its first so many intents: all that were acknowledged or that a reader saw, and perhaps some of those that were under
 * way. Where intents may be refused for want of space the workers wait for each answer before the kill, as a refused one
 * whose answer was not heard would be a gap.
 */
@NullMarked
package io.caravan.bench.torture;

import org.jspecify.annotations.NullMarked;
