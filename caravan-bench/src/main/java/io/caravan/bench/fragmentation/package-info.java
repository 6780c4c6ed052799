/**
 * What a document server's life does to a heap: many small appends, now and then a snapshot and the end of what came
 * before it, and the space of both taken and given back until all of it has been written many times over.
 *
 * <p>{@link io.caravan.bench.fragmentation.ServerLife} is that life, the same for every heap, from a seed. The baseline
 * is what the first engine of this kind had: a list of holes in the order of their addresses, of which the first that is
 * large enough is taken ({@link io.caravan.bench.fragmentation.FirstFitHeap}). Both heaps get one endless hole; how far
 * into it they ever reach is the size that their file would have. {@link io.caravan.bench.fragmentation.MeasuredHeap}
 * notes that, and the time of each call.
 */
@NullMarked
package io.caravan.bench.fragmentation;

import org.jspecify.annotations.NullMarked;
