/**
 * Compares Caravan, running in its own process with the options that users get by default, with its peers, as measured
 * from the client side.
 *
 * <p>{@link io.caravan.bench.server.ServerCommand} runs the parts that {@link
 * io.caravan.bench.server.ServerCommand.Part} names, each several times. A part starts the systems to compare ({@link
 * io.caravan.bench.server.MeasuredServer}) one after another, each fresh and alone ({@link
 * io.caravan.bench.server.RunningServer}), runs the same workload on each, and adds a row to the results.
 */
@NullMarked
package io.caravan.bench.server;

import org.jspecify.annotations.NullMarked;
