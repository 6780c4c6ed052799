/**
 * Compares numbers published in posts with results of the same workloads on Caravan. The posts
 * describe Caravan's own first design and similar stores. Each number comes from another machine, in most cases from
 * another language, and from a slightly different workload; the differences are stated next to it.
 *
 * <p>{@link io.caravan.bench.published.PublishedNumbers} lists the numbers and the workload for each number ({@link
 * io.caravan.bench.published.PublishedWorkload}). {@link io.caravan.bench.published.PublishedCommand} runs the
 * workloads in turn.
 */
@NullMarked
package io.caravan.bench.published;

import org.jspecify.annotations.NullMarked;
