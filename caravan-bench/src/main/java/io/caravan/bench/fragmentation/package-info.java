/**
 * Measures what the life of a document server does to a heap: many small appends and occasional snapshots that replace
 * them, with space allocated and freed until everything has been rewritten many times.
 *
 * <p>{@link io.caravan.bench.fragmentation.ServerLife} is that life, generated from a seed and the same for every heap.
 * The baseline is the classic design: a list of holes in address order, of which the first that is large enough is used
 * ({@link io.caravan.bench.fragmentation.FirstFitHeap}). Both heaps get one endless hole; how far they ever reach into
 * it is the size of their file. {@link io.caravan.bench.fragmentation.MeasuredHeap} records that, and the time of each
 * call.
 */
@NullMarked
package io.caravan.bench.fragmentation;

import org.jspecify.annotations.NullMarked;
