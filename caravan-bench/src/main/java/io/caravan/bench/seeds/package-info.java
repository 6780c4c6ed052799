/**
 * The figures in the posts that Caravan grew out of, beside the same work on Caravan here: posts on its own first design,
 * and on stores of its kind. Each figure was made on another machine, mostly in another language, and of something that is
 * not quite the same; what differs stands beside it.
 *
 * <p>{@link io.caravan.bench.seeds.Posts} names the figures and the work ({@link io.caravan.bench.seeds.Work}) that each is
 * about; {@link io.caravan.bench.seeds.Seeds} does it all, in turn.
 */
@NullMarked
package io.caravan.bench.seeds;

import org.jspecify.annotations.NullMarked;
