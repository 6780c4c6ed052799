/**
 * Where the time of an append goes.
 *
 * <p>{@link io.caravan.bench.layers.Layers} has each step of an append measured alone, in a JVM of its own, by JMH (the
 * classes that end in {@code Benchmark}), and beside them whole appends: in a store whose files take nothing ({@link
 * io.caravan.bench.layers.MutedStorage}), in stores of each durability, and through a server. {@link
 * io.caravan.bench.layers.WaitingParts} takes one append that is waited for apart: wake-ups, write, force.
 */
@NullMarked
package io.caravan.bench.layers;

import org.jspecify.annotations.NullMarked;
