/**
 * Compares the numbers in the posts that inspired Caravan, about its own first design and similar stores, with the same
 * work on Caravan here. Each number comes from another machine, mostly from another language, and from a slightly
 * different workload; the differences are stated next to it.
 *
 * <p>{@link io.caravan.bench.seeds.Posts} lists the numbers and the work ({@link io.caravan.bench.seeds.Work}) for
 * each; {@link io.caravan.bench.seeds.Seeds} runs all of it, in turn.
 */
@NullMarked
package io.caravan.bench.seeds;

import org.jspecify.annotations.NullMarked;
