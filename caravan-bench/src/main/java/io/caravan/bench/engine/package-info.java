/**
 * Measures the embedded engine beside other stores and the machine's own limits.
 *
 * <p>It reproduces how embedded append-only stores are usually compared: many small appends by one producer that does
 * not wait ({@link io.caravan.bench.engine.StreamedAppends}), writers that wait for each acknowledgement ({@link
 * io.caravan.bench.engine.WaitingWriters}), whole lists read back ({@link io.caravan.bench.engine.ListReads}), and adds
 * large values ({@link io.caravan.bench.engine.LargeValues}). Every row states what an acknowledgement guarantees. The
 * machine's limits stand beside it: the same bytes written and forced by hand, forces of the disk, copies in memory and
 * wake-ups of threads.
 *
 * <p>A {@link io.caravan.bench.engine.Contestant} is one system at one level; a {@link io.caravan.bench.engine.Contest}
 * runs them one after another, in an order that changes from run to run, so that disturbances affect all of them alike.
 */
@NullMarked
package io.caravan.bench.engine;

import org.jspecify.annotations.NullMarked;
