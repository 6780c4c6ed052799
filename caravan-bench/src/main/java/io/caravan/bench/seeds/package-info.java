/**
 * Compares the numbers in the posts that inspired Caravan with results of the same workloads on Caravan. The posts
 * describe Caravan's own first design and similar stores. Each number comes from another machine, in most cases from
 * another language, and from a slightly different workload; the differences are stated next to it.
 *
 * <p>{@link io.caravan.bench.seeds.Posts} lists the numbers and the workload ({@link io.caravan.bench.seeds.Work}) for
 * each number. {@link io.caravan.bench.seeds.SeedsCommand} runs the workloads in turn.
 */
@NullMarked
package io.caravan.bench.seeds;

import org.jspecify.annotations.NullMarked;
