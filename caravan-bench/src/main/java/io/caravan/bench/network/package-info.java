/**
 * Servers as their clients see them: Caravan's in a process of its own, with the options that users get, beside its peers.
 *
 * <p>{@link io.caravan.bench.network.ServerCommand} runs the parts that {@link io.caravan.bench.network.Part} names, each
 * several times. A part starts the systems it compares ({@link io.caravan.bench.network.Subject}) one after the other,
 * each fresh and alone ({@link io.caravan.bench.network.RunningServer}), does the same to each, and adds a row.
 */
@NullMarked
package io.caravan.bench.network;

import org.jspecify.annotations.NullMarked;
