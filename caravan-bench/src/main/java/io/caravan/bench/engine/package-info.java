/**
 * The engine inside a process, beside other stores and the machine's own limits.
 *
 * <p>It reproduces how embedded append-only stores are usually compared: many small appends by one producer that waits for
 * nobody ({@link io.caravan.bench.engine.StreamedAppends}), writers that wait for each acknowledgement
 * ({@link io.caravan.bench.engine.WaitingWriters}), whole lists read back ({@link io.caravan.bench.engine.ListReads}), and
 * adds values that are large ({@link io.caravan.bench.engine.LargeValues}). What an acknowledgement means stands in every
 * row, and beside it the same bytes written and forced by hand, forces of the disk, copies in memory and wake-ups of threads.
 *
 * <p>A {@link io.caravan.bench.engine.Contestant} is one system at one level; a {@link io.caravan.bench.engine.Contest} runs
 * them one after the other, in an order that changes from run to run, so that whatever else the machine does falls on all of
 * them alike.
 */
@NullMarked
package io.caravan.bench.engine;

import org.jspecify.annotations.NullMarked;
