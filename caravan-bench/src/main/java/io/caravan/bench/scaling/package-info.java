/**
 * Measures how the cost of an operation changes with the number of entries, lists and threads.
 *
 * <p>{@link io.caravan.bench.scaling.StoreSizes} builds stores of several sizes once ({@link
 * io.caravan.bench.scaling.StoreShelf}) and measures in every run the time of one operation in each ({@link
 * io.caravan.bench.scaling.StoreOperations}), and the times of opening, checkpointing and verifying. {@link
 * io.caravan.bench.scaling.WholeLists} reads long lists from end to end, {@link io.caravan.bench.scaling.ThreadCounts}
 * uses 1 to 64 threads. The limits of the hardware are shown beside each: a random read of memory ({@link
 * io.caravan.bench.scaling.RandomReads}), a checksum over the same bytes, one lock with as many threads.
 */
@NullMarked
package io.caravan.bench.scaling;

import org.jspecify.annotations.NullMarked;
