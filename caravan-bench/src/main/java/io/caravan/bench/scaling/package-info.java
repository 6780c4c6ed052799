/**
 * How the cost of an operation changes with the store's size: with its entries, with its lists, and with the threads
 * that use it.
 *
 * <p>{@link io.caravan.bench.scaling.StoreSizes} builds stores of several sizes once ({@link
 * io.caravan.bench.scaling.StoreShelf}) and measures in every run what one operation takes in each ({@link
 * io.caravan.bench.scaling.StoreOperations}), and what opening, checkpointing and verifying take. {@link
 * io.caravan.bench.scaling.WholeLists} reads long lists from end to end, {@link io.caravan.bench.scaling.ThreadCounts}
 * does the same with 1 to 64 threads. What the hardware allows stands beside each: a random read of memory ({@link
 * io.caravan.bench.scaling.RandomReads}), a checksum over the same bytes, one lock under so many threads.
 */
@NullMarked
package io.caravan.bench.scaling;

import org.jspecify.annotations.NullMarked;
