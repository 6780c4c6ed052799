/**
 * Measures where the time of an append goes.
 *
 * <p>{@link io.caravan.bench.layers.Layers} measures each step of an append alone, with JMH in its own JVM (the classes
 * that end in {@code Benchmark}), and whole appends beside them: in a store whose log files discard everything ({@link
 * io.caravan.bench.layers.MutedStorage}), in stores of each durability, and through a server. {@link
 * io.caravan.bench.layers.WaitingParts} splits one append that is waited for into its parts: wake-ups, write, force.
 */
@NullMarked
package io.caravan.bench.layers;

import org.jspecify.annotations.NullMarked;
